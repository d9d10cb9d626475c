// Links and plain text of an item's HTML. Tokenizes only: building a tree of hostile HTML is slow.
import { Tokenizer } from 'htmlparser2';
import { MAX_URL_LENGTH } from './addresses.ts';

/** XHTML elements may have a prefix. */
const ANCHOR = /^(?:[\w-]{1,20}:)?(?:a|area)$/i;
const MAX_NAME_LENGTH = 25;
/** A truncated URL would be another URL, so too long ones are dropped. */
const TOO_LONG = 'about:invalid';

interface HtmlOptions {
  readonly maxCharacters: number;
}

/** The `href` of every `a` and `area`, in order, entities resolved, at most `maxLinks`. */
export function linksOfHtml(html: string, { maxCharacters, maxLinks }: HtmlOptions & { maxLinks: number }): string[] {
  const source = html.slice(0, maxCharacters);
  const links: string[] = [];
  let isAnchor = false;
  let isHref = false;
  let value = '';
  const tokenizer = tokenize({
    onopentagname: (start, end) => {
      isAnchor = end - start <= MAX_NAME_LENGTH && ANCHOR.test(source.slice(start, end));
    },
    onattribname: (start, end) => {
      isHref = isAnchor && end - start === 4 && source.slice(start, end).toLowerCase() === 'href';
      value = '';
    },
    onattribdata: (start, end) => {
      if (!isHref || value === TOO_LONG) return;
      value = value.length + end - start > MAX_URL_LENGTH ? TOO_LONG : value + source.slice(start, end);
    },
    onattribentity: (codePoint) => {
      if (isHref && value !== TOO_LONG) value += String.fromCodePoint(codePoint);
    },
    onattribend: () => {
      if (isHref && value !== '' && value !== TOO_LONG) links.push(value.trim());
      if (links.length >= maxLinks) tokenizer.pause();
    },
  });
  run(tokenizer, source);
  return links;
}

/** The text without tags, entities resolved. */
export function textOfHtml(html: string, { maxCharacters }: HtmlOptions): string {
  const source = html.slice(0, maxCharacters);
  let text = '';
  const tokenizer = tokenize({
    ontext: (start, end) => {
      text += source.slice(start, end);
    },
    ontextentity: (codePoint) => {
      text += String.fromCodePoint(codePoint);
    },
  });
  run(tokenizer, source);
  return text;
}

type Callbacks = ConstructorParameters<typeof Tokenizer>[1];

const ignore = () => {};
/** The tokenizer requires a callback for every kind of token. */
export const NO_CALLBACKS: Callbacks = {
  onattribdata: ignore,
  onattribend: ignore,
  onattribentity: ignore,
  onattribname: ignore,
  oncdata: ignore,
  onclosetag: ignore,
  oncomment: ignore,
  ondeclaration: ignore,
  onend: ignore,
  onopentagend: ignore,
  onopentagname: ignore,
  onprocessinginstruction: ignore,
  onselfclosingtag: ignore,
  ontext: ignore,
  ontextentity: ignore,
};

function tokenize(callbacks: Partial<Callbacks>): Tokenizer {
  return new Tokenizer({ decodeEntities: true }, { ...NO_CALLBACKS, ...callbacks });
}

function run(tokenizer: Tokenizer, source: string): void {
  tokenizer.write(source);
  if (tokenizer.running) tokenizer.end();
}
