import type { Plugin } from 'vite';

const PROGRAM = /<script type="module"[^>]*>([\s\S]*?)<\/script>/;

/** Runs the program once the browser has drawn what stands in the page; a page that is not visible draws nothing. */
const START = `
  const start = () => {
    const program = document.getElementById('program');
    if (!program) return;
    const script = document.createElement('script');
    script.type = 'module';
    script.textContent = program.textContent;
    program.replaceWith(script);
  };
  requestAnimationFrame(() => setTimeout(start));
  setTimeout(start, 500);
`;

/** Lets the page be seen before its program, which was put into it whole, is read. Belongs behind `viteSingleFile`. */
export function paintFirst(): Plugin {
  return {
    name: 'paint-first',
    enforce: 'post',
    generateBundle: {
      order: 'post',
      handler(_, bundle) {
        const page = bundle['index.html'];
        const html = page?.type === 'asset' ? String(page.source) : '';
        const [element, program] = PROGRAM.exec(html) ?? [];
        if (page?.type !== 'asset' || !element || !program) return this.error('index.html holds no program');
        const later = `<script type="text/plain" id="program">${program}</script><script>${START}</script></body>`;
        page.source = html.replace(element, () => '').replace('</body>', () => later);
      },
    },
  };
}
