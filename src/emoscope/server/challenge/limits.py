"""How long the texts of a challenge may be, and how much there may be of what is counted."""

MAX_TITLE = 200  # characters, of challenges, phases and announcements
MAX_DESCRIPTION = 20_000
MAX_ANNOUNCEMENT = 10_000
MAX_REASON = 500
MAX_NOTE = 300
MAX_PHASE_NAME = 64
MAX_ANSWERS, MAX_ANSWER = 40, 60  # to a question of the survey
MAX_SUMMARY = 2_000
MAX_TEAMS = 100_000  # that a challenge may let in
