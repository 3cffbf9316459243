// The detect page: reads what was typed or opened, asks the server, shows the answer.

import { element, get, post } from "./api.js";
import { drawTimeline } from "./chart.js";
import { readConversations, writeConversation } from "./conversation.js";
import { percent, turnItem } from "./turns.js";

const CONTEXT = 5; // turns before a part that are sent with it
const MAX_FILE_BYTES = 20 * 1024 * 1024;
const EXAMPLE = `Mia: hey, are you there?
Tom: yes! how was the exam?
Mia: I passed!!! I am so happy 😂😂
Tom: wow, congratulations :)
Mia: thank you so much
Tom: are you going to celebrate?
Mia: no, my best friend is ignoring me again 😭
Tom: oh no, what happened?
Mia: she lied to me. I hate liars 😡
Tom: what will you do now?
Mia: I will watch a movie`;

const $ = (id) => document.getElementById(id);
let model = null;
let limits = null;
let conversations = [];
let latest = 0;

async function start() {
  try {
    const found = await get("/v1/models");
    model = found.models[0];
    limits = found.limits;
  } catch (error) {
    fail(error.message);
    return;
  }
  for (const set of model.label_sets) {
    $("labels").append(element("option", { value: set.name }, `${set.name}: ${set.labels.map((label) => label.name).join(", ")}`));
  }
  showOwnPrior();
  $("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    detect();
  });
  $("conversation").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) detect();
  });
  $("conversation").addEventListener("input", () => setConversations([]));
  $("example").addEventListener("click", () => {
    $("conversation").value = EXAMPLE;
    setConversations([]);
    detect();
  });
  $("file").addEventListener("change", () => open($("file").files[0]));
  for (const event of ["dragover", "dragleave", "drop"]) {
    $("conversation").addEventListener(event, (happened) => {
      if (![...happened.dataTransfer.types].includes("Files")) return;
      happened.preventDefault();
      $("conversation").classList.toggle("dropping", event === "dragover");
      if (event === "drop") open(happened.dataTransfer.files[0]);
    });
  }
  $("labels").addEventListener("change", () => {
    showOwnPrior();
    again();
  });
  $("prior").addEventListener("change", () => {
    showOwnPrior();
    again();
  });
  $("dialogue").addEventListener("change", () => {
    const chosen = conversations[Number($("dialogue").value)];
    $("conversation").value = writeConversation(chosen.turns);
    setParts(chosen.turns.length);
    detect();
  });
  $("part").addEventListener("change", detect);
}

const chosenSet = () => model.label_sets.find((set) => set.name === $("labels").value);

async function open(file) {
  if (!file) return;
  if (file.size > MAX_FILE_BYTES) return fail("This file is larger than 20 MB; open a part of it.");
  try {
    const found = readConversations(await file.text());
    if (!found.length) return fail(`${file.name} holds no conversation.`);
    setConversations(found);
    $("conversation").value = writeConversation(found[0].turns);
    setParts(found[0].turns.length);
    detect();
  } catch (error) {
    fail(`${file.name}: ${error.message}`);
  } finally {
    $("file").value = "";
  }
}

function setConversations(found) {
  conversations = found;
  $("dialogue-choice").hidden = found.length < 2;
  $("dialogue").replaceChildren(
    ...found.slice(0, 1000).map((one, number) => element("option", { value: number }, `${number + 1} of ${found.length}: ${one.name}`)),
  );
  $("part-choice").hidden = true;
  $("part").replaceChildren();
}

const partSize = () => Math.max(1, limits.max_turns - CONTEXT);

/** A conversation longer than the server takes is shown in parts. */
function setParts(count) {
  const parts = Math.ceil(count / partSize());
  $("part-choice").hidden = parts < 2;
  if ($("part").childElementCount === parts) return;
  const options = [];
  for (let part = 0; part < parts; part++) {
    options.push(element("option", { value: part }, `turns ${part * partSize() + 1} to ${Math.min(count, (part + 1) * partSize())}`));
  }
  $("part").replaceChildren(...options);
}

function showOwnPrior() {
  const own = $("prior").value === "own";
  $("own-prior").hidden = !own;
  const set = chosenSet();
  if (!own || $("own-prior-fields").dataset.set === set.name) return;
  $("own-prior-fields").dataset.set = set.name;
  $("own-prior-fields").replaceChildren(
    ...set.labels.map(({ name }) => {
      const value = Math.max(1, Math.round(set.prior[name] * 100));
      const output = element("output", {}, "");
      const slider = element("input", { type: "range", min: 0, max: 100, value, "data-label": name });
      slider.addEventListener("input", showShares);
      slider.addEventListener("change", again);
      return element("label", {}, name, slider, output);
    }),
  );
  showShares();
}

function showShares() {
  const sliders = [...$("own-prior-fields").querySelectorAll("input")];
  const total = sliders.reduce((sum, slider) => sum + Number(slider.value), 0);
  for (const slider of sliders) {
    slider.parentElement.querySelector("output").textContent = total ? percent(Number(slider.value) / total) : "0 %";
  }
}

function chosenPrior() {
  const set = chosenSet();
  switch ($("prior").value) {
    case "training":
      return set.training_prior;
    case "even":
      return Object.fromEntries(set.labels.map(({ name }) => [name, 1 / set.labels.length]));
    case "own": {
      const sliders = [...$("own-prior-fields").querySelectorAll("input")];
      return Object.fromEntries(sliders.map((slider) => [slider.dataset.label, Number(slider.value)]));
    }
    default:
      return undefined;
  }
}

function again() {
  if (!$("results").hidden) detect();
}

async function detect() {
  const question = ++latest;
  $("error").hidden = true;
  let turns = null;
  try {
    // Several conversations that were pasted are as good as a file of them.
    if (!conversations.length) {
      const found = readConversations($("conversation").value);
      if (found.length > 1) setConversations(found);
      else turns = found[0]?.turns ?? [];
    }
  } catch (error) {
    return fail(error.message);
  }
  turns ??= conversations[Number($("dialogue").value || 0)].turns;
  if (!turns.length) return fail("Type or paste a conversation first.");
  setParts(turns.length);
  const first = Number($("part").value || 0) * partSize();
  const before = Math.min(CONTEXT, first);
  const sent = turns.slice(first - before, first + partSize());
  const asked = { turns: sent, labels: chosenSet().name, prior: chosenPrior(), first: before };
  $("status").textContent = "Reading …";
  try {
    const answer = await post("/v1/timeline", { turns: sent, labels: asked.labels, prior: asked.prior });
    if (question === latest) show(answer.turns.slice(before), sent.slice(before), asked, first);
  } catch (error) {
    if (question === latest) fail(error.message);
  }
}

function show(judged, said, asked, first) {
  const labels = chosenSet().labels;
  const colours = Object.fromEntries(labels.map(({ name, colour }) => [name, colour]));
  const counts = {};
  for (const turn of judged) counts[turn.label ?? "unsure"] = (counts[turn.label ?? "unsure"] ?? 0) + 1;
  const summary = Object.entries(counts)
    .sort((a, b) => b[1] - a[1])
    .map(([label, count]) => `${count} ${label}`)
    .join(", ");
  $("status").textContent = `${judged.length} ${judged.length === 1 ? "turn" : "turns"}: ${summary}.`;
  $("legend").replaceChildren(...labels.map(({ name, colour }) => element("li", { vars: { "--emotion": colour } }, name)));
  // The plain labels lie at the bottom, so that what rises above them is emotion.
  const plain = ["others", "neutral", "non-neutral"];
  const stacked = [...labels].sort((a, b) => plain.includes(b.name) - plain.includes(a.name));
  const pick = (index) => {
    const button = $(`turn-${index}`).querySelector("button");
    if (button.getAttribute("aria-expanded") !== "true") button.click();
    button.focus();
    $(`turn-${index}`).scrollIntoView({ block: "nearest" });
  };
  $("chart").replaceChildren(drawTimeline(judged, stacked, first + 1, `Probabilities by turn. ${summary}.`, pick));
  $("numbers").replaceChildren(...numbers(judged, said, labels, first));
  $("turns").replaceChildren(...judged.map((turn, index) => turnItem(index, turn, said[index], asked, colours)));
  $("turns").setAttribute("start", String(first + 1));
  $("cut").hidden = !judged.some((turn) => turn.truncated);
  $("results").hidden = false;
}

function numbers(judged, said, labels, first) {
  const head = element("tr", {}, element("th", { class: "text", scope: "col" }, "turn"));
  for (const { name } of labels) head.append(element("th", { scope: "col" }, name));
  head.append(element("th", { class: "text", scope: "col" }, "said"));
  const rows = judged.map((turn, index) => {
    const row = element("tr", {}, element("th", { class: "text", scope: "row" }, String(first + index + 1)));
    for (const { name } of labels) row.append(element("td", {}, percent(turn.scores[name])));
    row.append(element("td", { class: "text wrap" }, said[index].text));
    return row;
  });
  return [head, ...rows];
}

function fail(message) {
  $("status").textContent = "";
  $("error").textContent = message;
  $("error").hidden = false;
}

start();
