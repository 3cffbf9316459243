// The invitation follows the # of its link, which browsers do not send: fill it in, and say so if it no longer works.

import { element } from "./api.js";

const invitation = decodeURIComponent(location.hash.slice(1));
if (invitation) {
  const field = document.getElementById("field-invitation");
  field.value = invitation;
  const form = field.form;
  const answer = await fetch("/join/check", { method: "POST", body: new FormData(form) });
  if (answer.status === 404) {
    const { detail } = await answer.json();
    const problem = `${detail[0].toUpperCase()}${detail.slice(1)}.`;
    form.replaceWith(element("p", { role: "alert", class: "notice error" }, problem, " Ask your team for a new one."));
  }
}
