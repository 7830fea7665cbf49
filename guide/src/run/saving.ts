const SVG = 'http://www.w3.org/2000/svg';
const MARGIN = 12;
const TITLE_HEIGHT = 22;

function element(name: string, attributes: Record<string, string | number>): SVGElement {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}

function heading(text: string, y: number, size: number, ink: string): SVGElement {
  const font = { 'font-family': 'system-ui, sans-serif', 'font-size': size, fill: ink };
  const made = element('text', { x: MARGIN, y, ...font });
  made.textContent = text;
  return made;
}

/** A copy of a drawn picture without what belongs to the page alone. */
function copied(picture: SVGSVGElement): SVGSVGElement {
  const copy = picture.cloneNode(true) as SVGSVGElement;
  copy.querySelectorAll('[data-frame]').forEach((frame) => frame.remove());
  for (const name of ['class', 'style', 'tabindex', 'role', 'aria-label']) copy.removeAttribute(name);
  return copy;
}

/** What stands above all pictures of a part of the page. */
function headingOf(picture: Element): string | undefined {
  return picture.closest<HTMLElement>('[data-heading]')?.dataset.heading;
}

/** One picture of all that is drawn within an element, one below the other; all its colours are in it. */
export function pictureWithin(root: Element, title: string, colours: { paper: string; ink: string }): string {
  const pictures = [...root.querySelectorAll<SVGSVGElement>('svg[data-picture]')];
  const whole = element('svg', { xmlns: SVG });
  const paper = element('rect', { width: '100%', height: '100%', fill: colours.paper });
  whole.append(paper, heading(title, MARGIN + 12, 15, colours.ink));
  let top = MARGIN + 2 * TITLE_HEIGHT;
  let width = 320;
  for (const [index, picture] of pictures.entries()) {
    const part = headingOf(picture);
    const before = pictures[index - 1];
    if (part !== undefined && !(before && headingOf(before) === part)) {
      whole.append(heading(part, top - 2, 14, colours.ink));
      top += TITLE_HEIGHT;
    }
    const copy = copied(picture);
    const [pictureWidth, pictureHeight] = [picture.viewBox.baseVal.width, picture.viewBox.baseVal.height];
    copy.setAttribute('x', String(MARGIN));
    copy.setAttribute('y', String(top));
    whole.append(heading(picture.dataset.title ?? '', top - 6, 13, colours.ink), copy);
    top += pictureHeight + MARGIN + TITLE_HEIGHT;
    width = Math.max(width, pictureWidth + 2 * MARGIN);
  }
  const height = top - TITLE_HEIGHT + MARGIN;
  whole.setAttribute('width', String(width));
  whole.setAttribute('height', String(height));
  whole.setAttribute('viewBox', `0 0 ${width} ${height}`);
  return new XMLSerializer().serializeToString(whole);
}

/** The picture as a bitmap, twice as large so that its writing stays sharp. */
export async function bitmapOf(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [2 * image.width, 2 * image.height];
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) =>
      blob ? resolve(blob) : reject(new Error('The picture is too large for a bitmap.')),
    ),
  );
}

export function save(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
