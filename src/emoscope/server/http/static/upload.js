// Submit a file without leaving the page: drop it and see what is wrong with it.

import { element } from "./api.js";

for (const form of document.querySelectorAll("form.upload")) {
  const input = form.querySelector("input[type=file]");
  const drop = form.querySelector(".drop");
  // A request that is sent twice, by a double click or after a lost connection, counts once.
  const renewKey = () => {
    form.elements.key.value = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  };
  renewKey();
  input.addEventListener("change", renewKey);
  for (const event of ["dragover", "dragleave", "drop"]) {
    drop.addEventListener(event, (happened) => {
      happened.preventDefault();
      drop.classList.toggle("dropping", event === "dragover");
      if (event === "drop" && happened.dataTransfer.files.length) {
        input.files = happened.dataTransfer.files;
        renewKey();
      }
    });
  }
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    const outcome = form.querySelector(".outcome");
    button.disabled = true;
    outcome.replaceChildren(element("p", {}, "Uploading and verifying …"));
    try {
      const response = await fetch(form.action, { method: "POST", body: new FormData(form), headers: { Accept: "application/json" } });
      const answer = await response.json();
      if (response.ok) {
        location.assign(answer.location);
        return;
      }
      outcome.replaceChildren(refusal(answer));
      const fields = { file: input, note: form.elements.note };
      for (const [name, field] of Object.entries(fields)) field.setAttribute("aria-invalid", String((answer.errors ?? []).some((one) => one.field === name)));
      fields[answer.errors?.[0]?.field]?.focus();
      renewKey();
    } catch {
      outcome.replaceChildren(element("p", { class: "notice error" }, "The server cannot be reached. Try again: the file will count only once."));
    }
    button.disabled = false;
  });
}

function refusal(problem) {
  const rows = problem.rows ?? [];
  if (rows.length < 2) return element("p", { class: "notice error" }, problem.detail);
  return element(
    "div",
    { class: "notice error" },
    element("p", {}, "The file was rejected and does not count against your quota:"),
    element("ul", {}, ...rows.slice(0, 50).map((row) => element("li", {}, row))),
    rows.length <= 50 ? null : element("p", {}, `and ${(rows.length - 50).toLocaleString("en")} more: `, element("a", { href: `/submissions/${problem.submission}` }, "see them all")),
  );
}
