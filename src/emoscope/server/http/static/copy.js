// Buttons that copy to the clipboard: a link, or the secret in the element with this id.

for (const button of document.querySelectorAll("button.copy")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    const { copies } = button.dataset;
    await navigator.clipboard.writeText(document.getElementById(copies)?.textContent.trim() ?? copies);
    button.textContent = "Copied";
  });
}
