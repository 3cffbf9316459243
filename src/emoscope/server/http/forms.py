"""Pages with forms: after a form, the page is shown again with what was done or what is wrong."""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from emoscope.core.errors import EmoscopeError
from emoscope.server.errors import Invalid, ServerError
from emoscope.server.store.names import name_key

Values = dict[str, Any]  # of a template
Render = Callable[..., Response]
Action = Callable[..., Values | Response]  # what a page or a form does


class NotConfirmedError(Exception):
    """A name has to be typed first; `page` asks for it."""

    def __init__(self, page: Response) -> None:
        self.page = page


def must_confirm(render: Render, typed: str, expected: str, **values: Any) -> None:
    """Ask for a name to be typed before something that cannot be undone."""
    if name_key(typed.strip()) != name_key(expected):
        error = Invalid(f"what was typed is not {expected!r}") if typed.strip() else None
        raise NotConfirmedError(render(**({"hidden": {}, "expected": expected, "error": error} | values)))


def template(name: str) -> Render:
    """Render a page of a visitor or manager with a template."""
    return lambda user, **values: user.page(name, **values)


class FormPage:
    """A page at a path, which `render` shows to a user, and the forms on it.

    The functions below take the user, whom a dependency finds, as their first parameter.
    """

    def __init__(self, router: APIRouter, path: str, render: Render) -> None:
        self._router, self._path, self._render = router, path, render
        self._full_path = router.prefix + path
        self._gather: Action

    def page(self, gather: Action) -> Action:
        """Show the page with the values that a function gathers from the path and the query, or another response."""
        self._gather = gather
        user = next(iter(signature(gather).parameters))

        @wraps(gather)
        def get(**place: Any) -> Response:
            return self.show(place.pop(user), place)

        self._router.get(self._path, response_model=None)(get)
        return gather

    def form(self, path: str) -> Callable[[Action], Action]:
        """Do what a form asks for; the function returns values for the page, or another response."""

        def register(act: Action) -> Action:
            user = next(iter(signature(act).parameters))

            @wraps(act)
            def post(**sent: Any) -> Response:
                try:
                    told = act(**sent)
                except NotConfirmedError as question:
                    return question.page
                except EmoscopeError as error:
                    refusal = error if isinstance(error, ServerError) else Invalid(str(error))
                    told = {"error": refusal, "filled": sent}
                if isinstance(told, Response):
                    return told
                place = {name: value for name, value in sent.items() if f"{{{name}}}" in self._full_path}
                return self.show(sent[user], place, **told)

            self._router.post(path, response_model=None)(post)
            return act

        return register

    def show(self, user: Any, place: Values, **told: Any) -> Response:
        """The page, given its path and query, with what it tells after a form."""
        values = self._gather(user, **place)
        if isinstance(values, Response):
            return values
        return self._render(user, **{"filled": {}, **place, **values, **told})
