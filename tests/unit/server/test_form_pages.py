"""A page with forms is shown again after each, with what was done or what is wrong."""

import json
from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from fastapi import APIRouter, Depends, FastAPI, Form
from fastapi.testclient import TestClient
from starlette.responses import JSONResponse, PlainTextResponse, Response

from emoscope.core.errors import EmoscopeError
from emoscope.server.errors import Conflict
from emoscope.server.http.forms import FormPage, Values, must_confirm

User = Annotated[str, Depends(lambda: "ana")]
Field = Annotated[str, Form()]


def render(user: str, **values: Any) -> Response:
    error = values.pop("error", None)
    filled = {name: value for name, value in values.pop("filled").items() if name != "user"}
    shown = {"user": user, "filled": filled, "error": error and str(error), **values}
    return JSONResponse(json.loads(json.dumps(shown)), error.status if error else 200)


router = APIRouter(prefix="/rooms/{room}")
page = FormPage(router, "/items/{item}", render)


@page.page
def _item(user: User, room: str, item: int, sort: str = "name") -> Values:
    return {"seen": f"{user} {room} {item} {sort}"}


@page.form("/items/{item}/rename")
def _rename(user: User, room: str, item: int, name: Field = "") -> Values | Response:
    if name == "taken":
        raise Conflict("the name is taken", field="name")
    if name == "broken":
        raise EmoscopeError("the file cannot be read")
    if name == "elsewhere":
        return PlainTextResponse("another page")
    if name.startswith("delete"):
        must_confirm(lambda **_: PlainTextResponse("type it"), name.removeprefix("delete").strip(), room)
    return {"done": f"{item} is now {name}, {user}"}


@pytest.fixture
def client() -> Iterator[TestClient]:
    app = FastAPI()
    app.include_router(router)
    with TestClient(app) as opened:
        yield opened


def test_a_page_shows_the_values_of_its_path_and_query(client: TestClient) -> None:
    shown = client.get("/rooms/blue/items/7?sort=size").json()
    assert (shown["seen"], shown["filled"], shown["error"]) == ("ana blue 7 size", {}, None)


def test_a_form_shows_the_page_again_with_what_was_done(client: TestClient) -> None:
    shown = client.post("/rooms/blue/items/7/rename", data={"name": "new"}).json()
    assert (shown["done"], shown["seen"], shown["filled"]) == ("7 is now new, ana", "ana blue 7 name", {})


@pytest.mark.parametrize(
    ("name", "status", "error"), [("taken", 409, "the name is taken"), ("broken", 422, "the file cannot be read")]
)
def test_a_refused_form_keeps_what_was_filled_in(client: TestClient, name: str, status: int, error: str) -> None:
    refused = client.post("/rooms/blue/items/7/rename", data={"name": name})
    assert refused.status_code == status
    assert refused.json()["error"] == error
    assert refused.json()["filled"] == {"room": "blue", "item": 7, "name": name}


def test_a_form_may_answer_with_another_page_or_ask_first(client: TestClient) -> None:
    for name, text in (("elsewhere", "another page"), ("delete", "type it"), ("delete red", "type it")):
        assert client.post("/rooms/blue/items/7/rename", data={"name": name}).text == text
    assert "done" in client.post("/rooms/blue/items/7/rename", data={"name": "delete Blue"}).json()
