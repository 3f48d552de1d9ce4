// Buttons that stay pressed.

// One button, on or off.
export class Toggle {
  constructor(button, isOn, onChange) {
    this.button = button;
    this.set(isOn);
    button.addEventListener("click", () => {
      this.set(!this.isOn);
      onChange();
    });
  }

  set(isOn) {
    this.isOn = isOn;
    this.button.setAttribute("aria-pressed", isOn);
  }
}

// A group of buttons with `data-tool`, of which one is pressed; arrow keys go from one to the next.
export function toolGroup(group, onChoose) {
  const buttons = [...group.children];
  const press = (tool) => buttons.forEach((button) => button.setAttribute("aria-pressed", button.dataset.tool === tool));
  buttons.forEach((button, place) => {
    button.addEventListener("click", () => onChoose(button.dataset.tool));
    button.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
      if (!by) return;
      event.preventDefault();
      const next = buttons[(place + by + buttons.length) % buttons.length];
      next.focus();
      next.click();
    });
  });
  return { press };
}
