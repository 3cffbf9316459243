"""The step `windows`: cut dialogues into windows of user, agent, user."""

from emoscope.core.dialogue import Dialogue
from emoscope.corpus.pipeline.rows import dialogue_of
from emoscope.corpus.pipeline.step import PipelineStep, Stage, StepContext
from emoscope.corpus.sources.windows import windows

ROLES = ("user", "agent", "user")


class WindowsStep(PipelineStep):
    """Cut dialogues into three-turn windows of user, agent, user, without speaker names.

    If speakers are known, `users` lists who may begin and end a window, `agents` who may be in between; by default,
    anyone may be either.
    """

    takes = frozenset({Stage.DIALOGUES})

    users: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()

    def run(self, context: StepContext) -> None:
        with context.output() as out:
            for row in context.rows("cutting windows"):
                before = out.written
                for window in filter(self._fits, windows(dialogue_of(row))):
                    turns = [{"speaker": role, "text": text} for role, text in zip(ROLES, window.texts, strict=True)]
                    out.write({"id": window.id, "source": row["source"], "turns": turns})
                context.counts.dropped["no window of user, agent, user"] += out.written == before

    def _fits(self, window: Dialogue) -> bool:
        user, agent, _ = (turn.speaker for turn in window.turns)
        if user is None or agent is None:
            return not (self.users or self.agents)  # the speakers are unknown
        if self.users and user not in self.users:
            return False
        return not self.agents or (agent in self.agents and user not in self.agents)
