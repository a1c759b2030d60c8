// Typed arrays as `packed` writes them: little-endian bytes in base64.
const TYPES = { Uint8Array, Uint16Array, Uint32Array, Float32Array, Float64Array };

function unpack(record) {
  const text = atob(record.bytes);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new TYPES[record.type](bytes.buffer);
}

// A method's answers at all budgets; `at` walks to one of them by the changes between neighbours.
class Track {
  constructor(record) {
    Object.assign(this, record);
    for (const name of ["budgets", "cost", "residual", "least", "changed", "ends", "loaded"])
      if (record[name]) this[name] = unpack(record[name]);
    this.step = -1;
    this.nodes = new Set();
  }

  at(step) {
    while (this.step < step) this.toggle(++this.step);
    while (this.step > step) this.toggle(this.step--);
    return this.nodes;
  }

  // The means over a path's frames for every budget.
  along(frames) {
    const mean = (values) => Float64Array.from({ length: values.length / frames }, (_, i) => values.subarray(i * frames, (i + 1) * frames).reduce((sum, value) => sum + value, 0) / frames);
    const [cost, residual, least] = [this.budgets, this.residual, this.least].map(mean);
    return { cost, residual, least };
  }

  toggle(step) {
    if (!this.ends.length) return;
    for (let i = step ? this.ends[step - 1] : 0; i < this.ends[step]; i++) {
      const node = this.changed[i];
      if (!this.nodes.delete(node)) this.nodes.add(node);
    }
  }
}

function amount(value) {
  return Number.isFinite(value) ? value.toLocaleString("en", { maximumSignificantDigits: 4 }) : "none";
}

function count(value) {
  return Math.round(value).toLocaleString("en");
}

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
