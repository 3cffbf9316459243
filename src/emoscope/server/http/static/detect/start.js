// The example on the start page, which updates while somebody types.

import { askPage } from "./ask.js";
import { read } from "./read.js";

const PAUSE = 300; // ms without a key press
const input = document.getElementById("example");
const problem = document.getElementById("try-error");
let pause;
let aborter;

input.addEventListener("input", () => {
  clearTimeout(pause);
  pause = setTimeout(answer, PAUSE);
});

async function answer() {
  aborter?.abort();
  aborter = new AbortController();
  try {
    const turns = read(input.value).conversations[0]?.turns.slice(-20);
    const nodes = turns ? await askPage("/detect/results?brief=1", { dialogues: [{ turns }] }, aborter.signal) : [];
    document.getElementById("found").replaceChildren(...nodes);
    problem.hidden = true;
  } catch (error) {
    if (error.name === "AbortError") return;
    problem.textContent = error.message;
    problem.hidden = false;
  }
}
