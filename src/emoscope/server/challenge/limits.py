"""Maximum lengths of texts in characters, and maximum counts."""

MAX_TITLE = 200  # of challenges, phases and announcements
MAX_DESCRIPTION = 20_000
MAX_ANNOUNCEMENT = 10_000
MAX_REASON = 500
MAX_NOTE = 300
MAX_PHASE_NAME = 64
MAX_ANSWERS, MAX_ANSWER = 40, 60  # to a survey question
MAX_SUMMARY = 2_000
MAX_TEAMS = 100_000
