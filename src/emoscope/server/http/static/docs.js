// The API page: sends requests from its forms and shows the responses.

import { element } from "./api.js";

for (const form of document.querySelectorAll("form.try")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form);
  });
}

async function send(form) {
  const answer = form.querySelector(".answer");
  let path = form.dataset.path;
  const query = new URLSearchParams();
  for (const input of form.querySelectorAll("input[data-in]")) {
    if (input.dataset.in === "path") path = path.replace(`{${input.name}}`, encodeURIComponent(input.value));
    else if (input.dataset.in === "query" && input.value) query.set(input.name, input.value);
  }
  const address = query.size ? `${path}?${query}` : path;
  const options = { method: form.dataset.method, headers: {} };
  const body = form.querySelector("textarea");
  const file = form.querySelector("input[type=file]");
  if (file) {
    options.body = new FormData();
    options.body.set("file", file.files[0]);
    for (const input of form.querySelectorAll("input[data-in=form]")) {
      if (input.value) options.body.set(input.name, input.value);
    }
  } else if (body) {
    options.body = body.value;
    options.headers["Content-Type"] = "application/json";
  }
  const token = document.getElementById("token").value.trim();
  if (token) options.headers.Authorization = `Bearer ${token}`;
  try {
    const response = await fetch(address, options);
    const text = await response.text();
    const timing = response.headers.get("Server-Timing");
    answer.replaceChildren(
      element("p", {}, element("strong", {}, `${response.status} ${response.statusText}`), timing ? ` · ${timing}` : ""),
      element("pre", { tabindex: "0", "aria-label": "Answer" }, pretty(text)),
    );
  } catch {
    answer.replaceChildren(element("p", { class: "notice error" }, "The server cannot be reached."));
  }
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text.slice(0, 20000);
  }
}
