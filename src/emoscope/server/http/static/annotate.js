// The annotation page: one item at a time, by keyboard or by thumb. Whose work it is stands behind the # of the link.

import { call, element } from "./api.js";
import { Draft } from "./annotate-draft.js";

const byId = (id) => document.getElementById(id);
const CLICK_GUARD = 300; // milliseconds: the second half of a double tap must not answer the next item

let token = "";
let view = null; // what the server sent last
let draft = null; // what has been chosen of the item at hand
let busy = false;
let shownAt = 0;
let repeat = null; // the call that failed

async function ask(action, body = {}) {
  if (busy) return;
  busy = true;
  const before = view;
  repeat = () => ask(action, body);
  try {
    view = await call("POST", `/annotate/${action}`, body, { Authorization: `Bearer ${token}` });
    byId("error").hidden = true;
    draft = new Draft(view, token);
    shownAt = performance.now();
    render(action === "judge" ? before : null);
  } catch (error) {
    byId("error-text").textContent = error.message;
    byId("error").hidden = false;
    byId("again").focus();
  } finally {
    busy = false;
  }
}

const step = () => ({ version: view.version });
const submit = () => ask("judge", { ...step(), answers: draft.answers });
const skip = () => ask("skip", step());

/** Choose a label for the turn at hand. Where one label is the whole answer, it is sent at once. */
function choose(label) {
  if (draft.choose(label)) submit();
  else renderItem();
}

function goOn() {
  if (draft.complete) submit();
  else if (draft.advance()) renderItem();
}

function undo() {
  if (draft?.takeBack()) renderItem();
  else if (view.can_undo) ask("undo", step());
}

/** Show what the server sent; `judged` is the view that has just been judged, for the answer to a check question. */
function render(judged) {
  byId("who").textContent = view.annotator;
  byId("count").textContent = `${view.judged} judged, ${view.left} left`;
  byId("progress").value = view.judged + view.left ? view.judged / (view.judged + view.left) : 0;
  const wrong = judged ? view.checks.filter((check) => !check.right) : [];
  byId("notice").hidden = !view.notice;
  byId("notice").textContent = sentence(view.notice ?? "");
  byId("praise").hidden = !judged || !view.checks.length || wrong.length > 0;
  byId("praise").textContent = "That was a check question, and you were right.";
  byId("check").hidden = !wrong.length;
  if (wrong.length) renderCheck(wrong, judged);
  else renderState();
}

function renderCheck(wrong, judged) {
  const asked = judged.turns.filter((turn) => turn.asked);
  const about = (place) => (asked.length > 1 ? [asked[place]] : judged.turns).map((turn) => turn.text).join("\n");
  byId("check-list").replaceChildren(
    ...wrong.map((check) =>
      element(
        "div",
        { class: "pair" },
        element("blockquote", {}, about(check.place)),
        element("p", {}, "You said ", element("strong", {}, check.said), "; the answer is ", element("strong", {}, check.expected), "."),
      ),
    ),
  );
  for (const id of ["item", "answer", "end"]) byId(id).hidden = true;
  byId("continue").focus();
}

function renderState() {
  byId("check").hidden = true;
  const asking = view.state === "item";
  byId("item").hidden = byId("answer").hidden = !asking;
  byId("end").hidden = asking;
  if (asking) {
    renderItem();
    window.scrollTo(0, draft.whole ? 0 : document.body.scrollHeight);
    return;
  }
  const refused = view.state === "refused";
  byId("end-title").textContent = refused ? "Thank you, this is where it ends" : "Nothing is left for you at the moment";
  byId("end-text").textContent = refused
    ? `${view.gold.right} of your ${view.gold.answers} answers to check questions were as expected; this study needs ` +
      `${Math.round(view.gold.least * 100)}\u00a0%. Your answers will not be used.`
    : "Thank you! Your answers are kept. Now and then an item comes back, so you may look again later.";
  byId("look").hidden = refused;
  byId("answer").hidden = refused || !view.can_undo;
  byId("labels").hidden = byId("ask").hidden = byId("skip").hidden = byId("next").hidden = !asking;
}

function renderItem() {
  const { whole, at, answers } = draft;
  const list = byId("turns");
  // A dialogue is drawn anew with each label, and should not be read out each time.
  byId("item").setAttribute("aria-live", whole ? "off" : "polite");
  list.className = `said-list ${whole ? "whole" : "single"}`;
  const first = view.turns[0]?.speaker ?? null;
  let place = -1;
  list.replaceChildren(
    ...view.turns.map((turn, index) => {
      if (turn.asked) place += 1;
      const own = place;
      const other = turn.speaker === null && first === null ? !whole && index % 2 === 1 : turn.speaker !== first;
      const kinds = [turn.asked && "asked", other && "other", whole && own === at && "current"].filter(Boolean);
      const said = [turn.speaker ? element("span", { class: "speaker" }, turn.speaker) : null, turn.text || "(nothing)"];
      if (!whole) return element("li", { class: kinds.join(" ") }, ...said);
      const pick = element("button", { type: "button", "aria-pressed": String(own === at), on: { click: () => { draft.at = own; renderItem(); } } }, ...said, chips(answers[own]));
      return element("li", { class: kinds.join(" ") }, pick);
    }),
  );
  if (whole) list.querySelector(".current")?.scrollIntoView({ block: "center" });
  renderLabels();
}

const colourOf = (name) => view.labels.find((label) => label.name === name)?.colour ?? "#8a8f98";

function chips(answer) {
  const said = answer ? [answer.label, ...answer.others] : [];
  return element("span", { class: "chosen" }, ...said.map((name, index) => element("span", { class: index ? "also" : false, vars: { "--emotion": colourOf(name) } }, name)));
}

function renderLabels() {
  const answer = draft.answers[draft.at];
  for (const id of ["labels", "ask", "skip"]) byId(id).hidden = false;
  byId("ask").textContent = !view.other_labels
    ? draft.whole ? "Turn by turn: the emotion of the framed one" : view.turns.length > 1 ? "The emotion of the framed turn" : "The emotion of this text"
    : answer ? "Others that might apply, then Next" : "Your best guess first, then others that might apply";
  const focused = document.activeElement?.dataset?.label;
  const buttons = view.labels.map((label) => {
    const kind = answer?.label === label.name ? "best" : answer?.others.includes(label.name) ? "also" : "";
    return element(
      "button",
      { type: "button", class: kind, "data-label": label.name, "aria-pressed": String(kind !== ""), vars: { "--emotion": label.colour }, on: { click: () => clicked(() => choose(label.name)) } },
      element("span", { class: "name" }, label.name),
      element("kbd", { "aria-hidden": "true" }, label.key),
    );
  });
  byId("labels").classList.toggle("many", buttons.length > 6);
  byId("labels").replaceChildren(...buttons);
  if (focused) byId("labels").querySelector(`[data-label="${CSS.escape(focused)}"]`)?.focus();
  byId("undo").disabled = !draft.canTakeBack && !view.can_undo;
  // Where a key sends the answer at once, there is nothing to go on from, but for an answer that was taken back.
  byId("next").hidden = !draft.staged && !draft.complete;
  byId("next").disabled = !draft.complete && !answer;
}

function clicked(act) {
  if (performance.now() - shownAt > CLICK_GUARD) act();
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || busy || !view) return;
  if (!byId("check").hidden || !byId("error").hidden) return; // their buttons are what is asked for
  const key = event.key.toLowerCase();
  const asking = view.state === "item";
  const label = asking && view.labels.find((one) => one.key === key);
  if (label) choose(label.name);
  else if (key === "u") undo();
  else if (asking && key === "s") skip();
  else if (asking && draft.whole && (key === "arrowdown" || key === "arrowup")) {
    draft.move(key === "arrowdown" ? 1 : -1);
    renderItem();
  } else if (asking && key === "enter" && !isTool(document.activeElement)) goOn();
  else return;
  event.preventDefault();
}

/** Buttons that Enter presses itself; on a label or a turn it means "go on". */
const isTool = (focused) => Boolean(focused?.closest(".tools"));

const sentence = (text) => (text ? `${text[0].toUpperCase()}${text.slice(1)}.` : "");

function begin() {
  token = decodeURIComponent(location.hash.slice(1));
  if (token) ask("look");
  else {
    byId("error-text").textContent = "Open the link you were given; this address alone does not say who you are.";
    byId("error").hidden = false;
    byId("again").hidden = true;
  }
}

byId("skip").addEventListener("click", () => clicked(skip));
byId("undo").addEventListener("click", () => clicked(undo));
byId("next").addEventListener("click", () => clicked(goOn));
byId("look").addEventListener("click", () => ask("look"));
byId("again").addEventListener("click", () => repeat());
byId("continue").addEventListener("click", renderState);
document.addEventListener("keydown", pressed);
window.addEventListener("hashchange", () => location.reload());
begin();
