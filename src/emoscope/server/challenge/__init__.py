"""Running a shared task: challenges, teams, submissions and boards.

Every service function takes the store and an actor, and refuses what the actor may not do or see.
"""
