// The label set and the expected label mix.

import { element } from "../api.js";

const $ = (id) => document.getElementById(id);

/** Sets up the options of a model; `changed` is called when they change. Returns a function that reads them. */
export function setUpOptions(model, changed) {
  const set = () => model.label_sets.find((one) => one.name === $("labels").value) ?? model.label_sets[0];
  if (!$("prior").querySelector("[value=own]")) $("prior").append(element("option", { value: "own" }, "custom"));

  const showShares = () => {
    const sliders = [...$("own-prior-fields").querySelectorAll("input")];
    const total = sliders.reduce((sum, slider) => sum + Number(slider.value), 0);
    for (const slider of sliders) {
      slider.parentElement.querySelector("output").textContent = `${Math.round((100 * slider.value) / (total || 1))} %`;
    }
  };
  const showOwn = () => {
    $("own-prior").hidden = $("prior").value !== "own";
    if ($("own-prior").hidden || $("own-prior-fields").dataset.set === set().name) return;
    $("own-prior-fields").dataset.set = set().name;
    $("own-prior-fields").replaceChildren(
      ...set().labels.map(({ name }) => {
        const value = Math.max(1, Math.round(set().prior[name] * 100));
        const slider = element("input", { type: "range", min: 0, max: 100, value, "data-label": name });
        slider.addEventListener("input", showShares);
        slider.addEventListener("change", changed);
        return element("label", {}, name, slider, element("output", {}));
      }),
    );
    showShares();
  };
  for (const id of ["labels", "prior"]) {
    $(id).addEventListener("change", () => {
      showOwn();
      changed();
    });
  }
  showOwn();

  return () => {
    const { name, labels, training_prior } = set();
    const sliders = [...$("own-prior-fields").querySelectorAll("input")];
    const priors = {
      training: training_prior,
      even: Object.fromEntries(labels.map((label) => [label.name, 1 / labels.length])),
      own: Object.fromEntries(sliders.map((slider) => [slider.dataset.label, Number(slider.value)])),
    };
    return { labels: name, prior: priors[$("prior").value] ?? null };
  };
}
