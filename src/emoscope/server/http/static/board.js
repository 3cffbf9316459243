// Filter a board's rows while typing; without this script the server does the search.

const field = document.getElementById("q");
const rows = [...document.querySelectorAll(".board tbody tr[data-name]")];
const found = document.getElementById("found");

// Rows that the server left out cannot be shown here, so further searches go to the server.
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
