// The annotation page: one item at a time, by keyboard or touch. The annotator's token follows the # of the link.

import { call, element } from "./api.js";
import { Draft } from "./annotate-draft.js";
import { Earlier } from "./annotate-earlier.js";

const byId = (id) => document.getElementById(id);
const CLICK_GUARD = 300; // milliseconds: the second half of a double tap must not answer the next item

let token = "";
let view = null; // what the server sent last
let draft = null; // what has been chosen for the current item
let busy = false;
let shownAt = 0;
let repeat = null; // the call that failed
let revisit = null; // an earlier item that is open: { step, entry }
let panel = null; // what is shown instead of the item: "guidelines", "earlier-items" or "remark-form"
const tokenHeader = () => ({ Authorization: `Bearer ${token}` });
const earlier = new Earlier((before) => call("POST", "/annotate/earlier", { before }, tokenHeader()));

function setBusy(now) {
  busy = now;
  document.body.ariaBusy = String(now);
}

async function ask(action, body = {}) {
  if (busy) return;
  setBusy(true);
  const before = view;
  repeat = () => ask(action, body);
  try {
    view = await call("POST", `/annotate/${action}`, body, tokenHeader());
    byId("error").hidden = true;
    if (view.briefing && view.briefing !== document.body.dataset.briefing) {
      location.reload(); // the guidelines were changed since this page was opened
      return;
    }
    revisit = panel = null;
    earlier.clear();
    draft = new Draft(view, token);
    shownAt = performance.now();
    render(action === "judge" ? before : null);
    const done = { revise: "Answer changed.", remark: "Thank you. The managers will see it." }[action];
    if (done && !view.notice) praise(done);
  } catch (error) {
    byId("error-text").textContent = sentence(error.message);
    byId("error").hidden = false;
    byId("again").focus();
  } finally {
    setBusy(false);
  }
}

const step = () => ({ version: view.version });
const submit = () => revisit
  ? ask("revise", { ...step(), place: revisit.entry.place, answers: draft.answers })
  : ask("judge", { ...step(), answers: draft.answers });
/** What the annotator sees: an earlier item, or the current one. */
const shown = () => revisit?.entry ?? view;
const skip = () => ask("skip", step());

/** Choose a label for the current turn. If that completes the answer, send it. */
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
  else if (!revisit && view.can_undo) ask("undo", step());
}

/** Open the item of some steps ago, or the current item if `stepsAgo` is negative. */
async function goTo(stepsAgo) {
  if (busy || (stepsAgo < 0 && !revisit)) return;
  try {
    const entry = stepsAgo < 0 ? null : await earlier.at(stepsAgo);
    if (stepsAgo >= 0 && !entry) return;
    revisit = entry && { step: stepsAgo, entry };
    draft = entry ? new Draft({ ...view, ...entry, draft: entry.answers, version: `${view.version}:${entry.place}` }, `e${entry.place}${token}`) : new Draft(view, token);
    shownAt = performance.now();
    byId("notice").hidden = byId("praise").hidden = true;
    show(null);
  } catch (error) {
    byId("error-text").textContent = sentence(error.message);
    byId("error").hidden = false;
  }
}

async function listEarlier(further = false) {
  try {
    if (further) await earlier.load();
    else await earlier.at(0);
    earlier.draw(byId("earlier-list"), (entry) => chips({ label: entry.answers[0].label, others: entry.answers.slice(1).map((answer) => answer.label) }), goTo);
    byId("older").hidden = !earlier.more;
    show("earlier-items");
  } catch (error) {
    byId("error-text").textContent = sentence(error.message);
    byId("error").hidden = false;
  }
}

/** Show a panel in place of the item, or the item again. */
function show(name) {
  panel = name;
  renderState();
  const focus = { guidelines: "guidelines-title", "earlier-items": "earlier-title", "remark-form": "remark-text" }[name];
  if (focus) byId(focus)?.focus();
  if (name) window.scrollTo(0, 0);
}

const toggle = (name, open = () => show(name)) => (panel === name ? show(null) : open());

function praise(text) {
  byId("praise").textContent = text;
  byId("praise").hidden = false;
}

/** Show what the server sent; `judged` is the view that has just been judged, for the answer to a check question. */
function render(judged) {
  byId("who").textContent = view.annotator;
  const part = view.rounds[view.round];
  byId("count").textContent = part ? `${sentence(view.round).slice(0, -1)}: ${part.answers} of ${part.wanted}` : `${view.judged} judged, ${view.left} left`;
  const [done, all] = part ? [part.answers, part.wanted] : [view.judged, view.judged + view.left];
  byId("progress").value = all ? done / all : 0;
  // During training every answer is explained.
  const told = judged ? view.checks.filter((check) => !check.right || judged.round === "training") : [];
  byId("notice").hidden = !view.notice;
  byId("notice").textContent = sentence(view.notice ?? "");
  byId("praise").hidden = true;
  if (judged && view.checks.length && !told.length) praise("That was a check question, and your answer was correct.");
  const ended = judged?.round === "qualification" && view.round === null && view.rounds.qualification;
  if (ended && ended.passed) praise(`You qualified with ${ended.right} of ${ended.wanted} correct. Now the real items begin.`);
  byId("check").hidden = !told.length;
  if (told.length) renderCheck(told, judged);
  else renderState();
}

function renderCheck(told, judged) {
  const training = judged.round === "training";
  byId("check-title").textContent = !training ? "That was a check question" : told.every((check) => check.right) ? "Correct" : "Not quite";
  const score = view.rounds.training;
  byId("check-note").textContent = !training
    ? "We add a few check questions to make sure that everyone uses the labels in the same way."
    : score.answers < score.wanted ? `Training: ${score.right} of ${score.answers} correct so far.` : `Training: ${score.right} of ${score.answers} correct.`;
  const asked = judged.turns.filter((turn) => turn.asked);
  const about = (place) => (asked.length > 1 ? [asked[place]] : judged.turns).map((turn) => turn.text).join("\n");
  byId("check-list").replaceChildren(
    ...told.map((check) =>
      element(
        "div",
        { class: "pair" },
        element("blockquote", {}, about(check.place)),
        check.right
          ? element("p", {}, "You chose ", element("strong", {}, check.said), ", as expected.")
          : element("p", {}, "You chose ", element("strong", {}, check.said), "; the expected answer is ", element("strong", {}, check.expected), "."),
        check.why ? element("p", { class: "why" }, check.why) : null,
      ),
    ),
  );
  for (const id of ["item", "answer", "end", ...PANELS]) if (byId(id)) byId(id).hidden = true;
  byId("continue").focus();
}

const PANELS = ["guidelines", "earlier-items", "remark-form"];

function renderState() {
  byId("check").hidden = true;
  const briefing = view.state === "briefing";
  const asking = !briefing && (view.state === "item" || revisit !== null);
  const over = briefing ? "guidelines" : panel;
  for (const id of PANELS) if (byId(id)) byId(id).hidden = id !== over;
  for (const [id, name] of [["guide", "guidelines"], ["earlier", "earlier-items"], ["remark", "remark-form"]]) byId(id)?.setAttribute("aria-expanded", String(over === name));
  byId("more").hidden = briefing || view.state === "refused";
  byId("remark").hidden = !asking;
  if (byId("begin")) {
    byId("begin").hidden = !briefing;
    byId("close-guide").hidden = briefing;
  }
  if (over === "remark-form") {
    const notes = revisit ? [] : view.notes;
    byId("remark-about").textContent = shown().turns.map((turn) => turn.text).join("\n");
    byId("own-notes").replaceChildren(...notes.map((note) => element("li", {}, `${note.kind === "flag" ? "Flagged" : "You wrote"}${note.text ? `: ${note.text}` : ""}`)));
  }
  byId("item").hidden = byId("answer").hidden = !asking || over !== null;
  byId("end").hidden = asking || over !== null;
  if (over) return;
  if (asking) {
    renderItem();
    window.scrollTo(0, draft.whole ? 0 : document.body.scrollHeight);
    return;
  }
  const refused = view.state === "refused";
  byId("end-title").textContent = refused ? "Your part in this study has ended" : "No more items for now";
  const qualified = view.rounds.qualification;
  byId("end-text").textContent = refused && qualified && !qualified.passed
    ? `${qualified.right} of your ${qualified.answers} answers were correct; this study requires ${Math.round(qualified.pass_mark * 100)}\u00a0%. Thank you for your time.`
    : refused
    ? `${view.gold.right} of your ${view.gold.answers} answers to check questions were correct; this study requires ` +
      `${Math.round(view.gold.least * 100)}\u00a0%. Your answers will not be used.`
    : "Thank you! Your answers are saved. More items may become available, so you can check again later.";
  byId("look").hidden = refused;
  byId("answer").hidden = refused || !view.can_undo;
  byId("labels").hidden = byId("ask").hidden = byId("skip").hidden = byId("next").hidden = !asking;
  byId("back").hidden = byId("older-item").hidden = byId("newer-item").hidden = true;
  byId("undo").hidden = false;
}

function renderItem() {
  const { whole, at, answers } = draft;
  const list = byId("turns");
  // A dialogue is redrawn with each label; screen readers should not read it out each time.
  byId("item").setAttribute("aria-live", whole ? "off" : "polite");
  list.className = `said-list ${whole ? "whole" : "single"}`;
  const turns = shown().turns;
  const first = turns[0]?.speaker ?? null;
  byId("revisited").hidden = !revisit;
  if (revisit) {
    byId("revisited").textContent = `Earlier item. ${revisit.entry.stands ? sentence(revisit.entry.stands) : "Choose another label to change your answer."}`;
  }
  let place = -1;
  list.replaceChildren(
    ...turns.map((turn, index) => {
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
  for (const id of ["labels", "ask"]) byId(id).hidden = false;
  byId("skip").hidden = byId("undo").hidden = revisit !== null;
  if (view.round) byId("skip").hidden = true;
  byId("back").hidden = byId("older-item").hidden = byId("newer-item").hidden = revisit === null;
  if (revisit) byId("older-item").disabled = revisit.entry.place === 0;
  const suggested = shown().suggested[draft.at] ?? null;
  byId("ask").textContent = !view.other_labels
    ? draft.whole ? "Which emotion does the highlighted turn express? Label every turn." : shown().turns.length > 1 ? "Which emotion does the highlighted turn express?" : "Which emotion does this text express?"
    : answer ? "Add other labels that might apply, then choose Next." : "Choose the best label first, then others that might apply.";
  if (suggested) byId("ask").textContent += ` A model suggests ${suggested}, which may be wrong.`;
  const focused = document.activeElement?.dataset?.label;
  const buttons = view.labels.map((label) => {
    const kind = answer?.label === label.name ? "best" : answer?.others.includes(label.name) ? "also" : "";
    return element(
      "button",
      { type: "button", class: kind, "data-label": label.name, "aria-pressed": String(kind !== ""), disabled: Boolean(revisit?.entry.stands), vars: { "--emotion": label.colour }, on: { click: () => clicked(() => choose(label.name)) } },
      element("span", { class: "name" }, label.name, label.name === suggested ? element("span", { class: "hint", "aria-hidden": "true" }, "suggested") : null),
      element("kbd", { "aria-hidden": "true" }, label.key),
    );
  });
  byId("labels").classList.toggle("many", buttons.length > 6);
  byId("labels").replaceChildren(...buttons);
  if (focused) byId("labels").querySelector(`[data-label="${CSS.escape(focused)}"]`)?.focus();
  byId("undo").disabled = !draft.canTakeBack && !view.can_undo;
  // If one key sends the answer, Next is only needed for an answer that was undone.
  byId("next").hidden = Boolean(revisit?.entry.stands) || (!draft.staged && (revisit !== null || !draft.complete));
  byId("next").disabled = !draft.complete && !answer;
}

function clicked(act) {
  if (performance.now() - shownAt > CLICK_GUARD) act();
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || busy || !view) return;
  if (!byId("check").hidden || !byId("error").hidden) return; // their own buttons have the focus
  const key = event.key.toLowerCase();
  if (event.key === "Escape" && (panel || revisit)) {
    if (panel) show(null);
    else goTo(-1);
    event.preventDefault();
    return;
  }
  if (event.target.closest("textarea, input") || view.state === "briefing" || view.state === "refused") return;
  const jump = { ArrowLeft: 1, ArrowRight: -1 }[event.key];
  if (jump && !panel) goTo((revisit?.step ?? -1) + jump);
  else if (event.key === "?" && byId("guide")) toggle("guidelines");
  else if (event.key === "/" && !byId("remark").hidden) toggle("remark-form");
  else return choice(event, key);
  event.preventDefault();
}

function choice(event, key) {
  const asking = !panel && (revisit ? !revisit.entry.stands : view.state === "item");
  const label = asking && view.labels.find((one) => one.key === key);
  if (label) choose(label.name);
  else if (key === "u" && !panel) undo();
  else if (asking && !revisit && !view.round && key === "s") skip();
  else if (asking && draft.whole && (key === "arrowdown" || key === "arrowup")) {
    draft.move(key === "arrowdown" ? 1 : -1);
    renderItem();
  } else if (asking && key === "enter" && !isTool(document.activeElement)) goOn();
  else return;
  event.preventDefault();
}

/** Buttons that Enter presses; on a label or a turn Enter means "next". */
const isTool = (focused) => Boolean(focused?.closest(".tools"));

const sentence = (text) => (text ? `${text[0].toUpperCase()}${text.slice(1)}${text.endsWith(".") ? "" : "."}` : "");

function begin() {
  token = decodeURIComponent(location.hash.slice(1));
  if (token) {
    if (byId("guidelines")) byId("guidelines").hidden = true;
    ask("look");
  } else {
    byId("error-text").textContent = "Please open your personal link: this address does not identify you.";
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
byId("back").addEventListener("click", () => goTo(-1));
byId("older-item").addEventListener("click", () => goTo(revisit.step + 1));
byId("newer-item").addEventListener("click", () => goTo(revisit.step - 1));
byId("guide")?.addEventListener("click", () => toggle("guidelines"));
byId("close-guide")?.addEventListener("click", () => show(null));
byId("begin")?.addEventListener("submit", (event) => {
  event.preventDefault();
  ask("begin", { briefing: document.body.dataset.briefing });
});
byId("earlier").addEventListener("click", () => toggle("earlier-items", listEarlier));
byId("older").addEventListener("click", () => listEarlier(true));
byId("close-earlier").addEventListener("click", () => show(null));
byId("remark").addEventListener("click", () => toggle("remark-form"));
byId("close-remark").addEventListener("click", () => show(null));
byId("remark-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = byId("remark-text").value;
  byId("remark-text").value = "";
  ask("remark", { flag: event.submitter?.value === "flag", text, place: revisit?.entry.place ?? null });
});
document.addEventListener("keydown", pressed);
window.addEventListener("hashchange", () => location.reload());
begin();
