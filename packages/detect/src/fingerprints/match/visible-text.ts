// The visible text of a page's source, without tags, scripts and styles, in one pass over its tokens.
import { Tokenizer } from 'htmlparser2';

const HIDDEN: ReadonlySet<string> = new Set(['script', 'style', 'noscript', 'template']);
const MAX_TAG_LENGTH = 16;

/** Text with every run of white space as one space; linear in the source, never throws on invalid HTML. */
export function visibleText(source: string): string {
  const parts: string[] = [];
  let hidden = '';
  let tag = '';
  const nameAt = (start: number, end: number) =>
    source.slice(start, Math.min(end, start + MAX_TAG_LENGTH)).toLowerCase();
  const ignore = () => {};
  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      onopentagname: (start, end) => {
        tag = nameAt(start, end);
        parts.push(' ');
      },
      onopentagend: () => {
        if (hidden === '' && HIDDEN.has(tag)) hidden = tag;
      },
      onselfclosingtag: ignore,
      onclosetag: (start, end) => {
        if (nameAt(start, end) === hidden) hidden = '';
        parts.push(' ');
      },
      ontext: (start, end) => {
        if (hidden === '') parts.push(source.slice(start, end));
      },
      ontextentity: (codePoint) => {
        if (hidden === '') parts.push(String.fromCodePoint(codePoint));
      },
      onattribname: ignore,
      onattribdata: ignore,
      onattribentity: ignore,
      onattribend: ignore,
      oncdata: ignore,
      oncomment: ignore,
      ondeclaration: ignore,
      onprocessinginstruction: ignore,
      onend: ignore,
    },
  );
  tokenizer.write(source);
  tokenizer.end();
  return parts.join('').replaceAll(/\s+/g, ' ').trim();
}
