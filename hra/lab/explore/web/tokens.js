// The picture that tokens give back, and where they are.

class TokenView {
  modes = ["what the tokens give back", "where the tokens are"];

  constructor(record) {
    Object.assign(this, record);
    this.places = unpack(record.places);
    [this.height, this.width] = record.size;
    this.canvas = element("canvas", { width: this.width, height: this.height, role: "img", "aria-label": "the image from its tokens" });
    this.context = this.canvas.getContext("2d");
  }

  async load() {
    this.images = await Promise.all(this.levels.map(decode));
  }

  draw(track, step, mode) {
    this.context.imageSmoothingQuality = "high";
    if (track.grids) return this.drawSmall(...track.grids[step]);
    const [red, green, blue] = track.canvas ?? [128, 128, 128];
    this.context.fillStyle = `rgb(${red} ${green} ${blue})`;
    this.context.fillRect(0, 0, this.width, this.height);
    // Coarse before fine: a patch stays until its last child covers it.
    const nodes = [...track.at(step)].sort((a, b) => this.places[3 * b] - this.places[3 * a]);
    for (const node of nodes) this.drawPatch(node);
    if (mode === 1) for (const node of nodes) this.drawOutline(node);
  }

  box(node) {
    const level = this.places[3 * node], side = this.patch << level;
    return [level, this.places[3 * node + 1] * side, this.places[3 * node + 2] * side, side];
  }

  drawPatch(node) {
    const [level, x, y, side] = this.box(node), image = this.images[level], scale = 2 ** level;
    const width = Math.min(side, this.width - x), height = Math.min(side, this.height - y);
    this.context.drawImage(image, x / scale, y / scale, width / scale, height / scale, x, y, width, height);
  }

  drawOutline(node) {
    const [level, x, y, side] = this.box(node);
    this.context.strokeStyle = levelColour(level);
    this.context.lineWidth = Math.max(1, this.width / 600);
    this.context.strokeRect(x + 1, y + 1, side - 2, side - 2);
  }

  drawSmall(rows, columns) {
    const small = new OffscreenCanvas(Math.min(columns * this.patch, this.width), Math.min(rows * this.patch, this.height));
    const pen = small.getContext("2d");
    pen.imageSmoothingQuality = "high";
    pen.drawImage(this.images[0], 0, 0, small.width, small.height);
    this.context.drawImage(small, 0, 0, this.width, this.height);
  }
}

async function decode(uri) {
  const image = new Image();
  image.src = uri;
  await image.decode();
  return image;
}
