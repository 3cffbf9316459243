// The detect page: one or two conversations, their common options, the draft and the link.

import { get } from "../api.js";
import { loadDraft, saveDraft } from "./draft.js";
import { linkedContent, linkOf } from "./link.js";
import { setUpOptions } from "./options.js";
import { Pane } from "./pane.js";

const $ = (id) => document.getElementById(id);
const EXAMPLE = $("example").dataset.text;
const page = { limits: null, chosen: null, isLive: () => $("live").checked, changed: keep };
const panes = [...document.querySelectorAll(".pane")].map((node, number) => new Pane(node, number, page));
const content = () => ({ panes: panes.map((pane) => pane.draft), labels: $("labels").value, prior: $("prior").value });

function keep() {
  const before = loadDraft()?.panes ?? [];
  const draft = content();
  draft.panes = [...draft.panes, ...before.slice(panes.length)]; // a second conversation is kept while only one is shown
  saveDraft({ ...draft, live: $("live").checked });
  $("link").hidden = true;
}

function restore({ panes: texts, labels, prior, live }) {
  for (const [id, value] of [["labels", labels], ["prior", prior]]) {
    if ([...$(id).options].some((option) => option.value === value)) $(id).value = value;
  }
  $("live").checked = live ?? true;
  panes.forEach((pane, number) => {
    if (texts[number]?.text) pane.take(texts[number]);
  });
}

async function openLink() {
  try {
    const linked = await linkedContent();
    if (linked) restore(linked);
    return Boolean(linked);
  } catch (error) {
    panes[0].fail(error.message);
    return true;
  }
}

async function start() {
  try {
    const { models, limits } = await get("/v1/models");
    page.limits = limits;
    page.chosen = setUpOptions(models[0], () => {
      keep();
      for (const pane of panes) if (!pane.$("results").hidden) pane.ask();
    });
  } catch (error) {
    return panes[0].fail(error.message);
  }
  for (const id of ["share", "clear", "live-choice"]) $(id).hidden = false;
  $("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    // One of two conversations may be empty.
    const filled = panes.filter((pane) => pane.input.value.trim());
    for (const pane of filled.length ? filled : [panes[0]]) pane.ask();
  });
  $("ask").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) $("ask").requestSubmit();
  });
  $("example").addEventListener("click", (event) => {
    event.preventDefault();
    panes[0].take({ text: EXAMPLE });
  });
  $("clear").addEventListener("click", () => {
    for (const pane of panes) pane.take({ text: "" });
    panes[0].input.focus();
  });
  $("live").addEventListener("change", keep);
  $("share").addEventListener("click", share);
  window.addEventListener("hashchange", openLink);
  if (await openLink()) return;
  if (panes.some((pane) => pane.input.value)) {
    for (const pane of panes) if (pane.input.value) pane.take(pane.draft);
    return;
  }
  const draft = loadDraft();
  if (draft) restore(draft);
}

async function share() {
  try {
    $("link-address").value = await linkOf(content());
  } catch (error) {
    return panes[0].fail(error.message);
  }
  $("link").hidden = false;
  $("link-address").select();
  $("link-copied").textContent = "";
  if (!navigator.clipboard) return;
  await navigator.clipboard.writeText($("link-address").value).then(
    () => ($("link-copied").textContent = "Copied."),
    () => {},
  );
}

start();
