// The search of a board filters its rows while one types; without it, the form asks the server.

const field = document.getElementById("q");
const rows = [...document.querySelectorAll(".board tbody tr[data-name]")];
const found = document.getElementById("found");

// Rows the server has left out cannot be shown here, so a search it has answered stays with it.
if (!field.value) {
  field.form.querySelector("button").hidden = true;
  field.form.addEventListener("submit", (event) => event.preventDefault());
  field.addEventListener("input", () => {
    const wanted = field.value.trim().toLowerCase();
    let shown = 0;
    for (const row of rows) {
      row.hidden = !row.dataset.name.includes(wanted);
      shown += !row.hidden;
    }
    found.textContent = wanted ? `${shown} of ${rows.length} rows` : "";
  });
}
