// What is held along a path: of a flight as the ground that it shows, of a trace as bytes.
const bytesOf = (track, step, frames) => ["cost", "residual", "least"].map((name) => track[name].subarray(step - (step % frames), step - (step % frames) + frames));

class FlightView extends TextureView {
  modes = ["what the camera sees", "by level: orange is the finest", "the map: all that is held, by level"];
  hint = "the second slider moves the camera along its path";

  async load() {
    await super.load();
    this.cameras = unpack(this.matrices);
    const strip = new Strip("error in px² along the flight", ["error left", "no choice of pages goes below"]);
    this.strip = strip;
    this.canvas.after(strip.svg, strip.legend);
  }

  draw(track, step, mode) {
    const at = step % this.frames, [, error, least] = bytesOf(track, step, this.frames);
    this.matrix = mode === 2 ? this.fromAbove() : this.cameras.subarray(16 * at, 16 * at + 16);
    super.draw(track, step, mode);
    this.strip.draw([error, least], at);
  }

  // Clip coordinates of the ground's own axes, as large as the picture holds them.
  fromAbove() {
    const [across, down] = this.sides.map((side) => Math.hypot(...side)), { width, height } = this.canvas;
    const scale = Math.min(width / across, height / down), rows = [[], []];
    this.sides.forEach((side, i) => {
      const length = [across, down][i], factor = ((i ? -2 : 2) * scale) / [width, height][i];
      const axis = side.map((value) => (value * factor) / length);
      rows[i] = [...axis, -axis.reduce((sum, value, k) => sum + value * (this.corner[k] + (this.sides[0][k] + this.sides[1][k]) / 2), 0)];
    });
    return [0, 1, 2, 3].flatMap((k) => [rows[0][k], rows[1][k], 0, k === 3 ? 1 : 0]);
  }
}

class TraceView {
  modes = ["bytes along the path"];
  hint = "the second slider moves along the path; hra also holds the coarser items that a wanted one needs, the others do not";

  constructor(record) {
    Object.assign(this, record);
    this.asked = unpack(record.wanted);
    const strip = new Strip("bytes of each frame", ["held", "wanted", "wanted and not there when the frame began"]);
    this.strip = strip;
    this.canvas = element("div", {}, strip.svg, strip.legend);
  }

  async load() {}

  draw(track, step) {
    const [held, missing] = bytesOf(track, step, this.frames);
    this.strip.draw([held, this.asked, missing], step % this.frames);
  }
}
