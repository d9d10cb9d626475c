// The regular expressions of the code, found in its text, and what would make each of them slow.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

export interface Expression {
  readonly file: string;
  readonly source: string;
  readonly flags: string;
}

const root = path.join(import.meta.dirname, '../..');

/** Of everything that runs in production: services, packages, pages. */
export function expressionsOfTheCode(): Expression[] {
  const exclude = (name: string) => ['node_modules', 'dist', 'test', 'testnet'].includes(name);
  const files = globSync('{catalog,packages,services,web/src}/**/*.{ts,tsx}', { cwd: root, exclude }).sort();
  return files
    .filter((file) => !/\.test\.tsx?$/.test(file))
    .flatMap((file) => expressionsIn(readFileSync(path.join(root, file), 'utf8')).map((each) => ({ file, ...each })));
}

/** After these a slash begins an expression; after anything else it divides. */
const BEFORE_EXPRESSION = /(?:^|[=(,:?&|!{};[<>+*%~^-]|\b(?:return|typeof|case|in|of|do|else|void|await|yield))\s*$/;

/** The literals of a source text: comments and strings are skipped, templates are parsed. */
export function expressionsIn(text: string): Omit<Expression, 'file'>[] {
  const found: Omit<Expression, 'file'>[] = [];
  /** Braces that are open within each `${` that is. */
  const templates: number[] = [];
  let code = '';
  let at = 0;
  const skipTo = (end: RegExp) => {
    end.lastIndex = at;
    at = end.exec(text) ? end.lastIndex : text.length;
  };
  while (at < text.length) {
    const char = text[at] as string;
    const two = text.slice(at, at + 2);
    if (two === '//') skipTo(/\n/g);
    else if (two === '/*') skipTo(/\*\//g);
    else if (char === "'" || char === '"') {
      at += 1;
      skipTo(char === "'" ? /(?:[^'\\\n]|\\.)*'/sy : /(?:[^"\\\n]|\\.)*"/sy);
      code += '""';
    } else if (char === '`' || (char === '}' && templates.at(-1) === 0)) {
      if (char === '}') templates.pop();
      at += 1;
      skipTo(/(?:[^`\\$]|\\.|\$(?!\{))*(?:`|\$\{)/sy);
      if (text[at - 1] === '{') {
        templates.push(0);
        code += '(';
      } else code += '""';
    } else if (char === '/' && BEFORE_EXPRESSION.test(code.slice(-12))) {
      const literal = /\/((?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuvy]*)/y;
      literal.lastIndex = at;
      const match = literal.exec(text);
      // A closing tag of JSX looks like one.
      const [, source = '', flags = ''] = match ?? [];
      if (match && !source.startsWith('>}') && compiled(source, flags)) {
        found.push({ source, flags });
        at = literal.lastIndex;
        code += '""';
      } else at += 1;
    } else {
      if (templates.length > 0 && (char === '{' || char === '}'))
        templates.push((templates.pop() ?? 0) + (char === '{' ? 1 : -1));
      code += char;
      at += 1;
    }
  }
  return found;
}

const SAMPLES = [...`aA0 \t\n.-_/:=;,"'<>&%@\\([{\u00e9*+#!`];

/**
 * Texts that the expression nearly matches, again and again: its literal parts and one character of each of its classes, alone, in
 * pairs and after its beginning, ended by what it does not expect.
 */
export function attacksOn({ source, flags }: Omit<Expression, 'file'>, length: number): string[] {
  const atoms = new Set<string>();
  const tokens =
    /\\u\{[^}]+\}|\\[pP]\{[^}]+\}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\.|\[(?:[^\]\\]|\\.)*\]|\(\?(?:<[=!]|[=!:]|<\w+>)|[*+?](?:\?)?|\{\d+(?:,\d*)?\}|[()|^$.]|./gsu;
  let run = '';
  const close = () => {
    if (run !== '') atoms.add(run);
    run = '';
  };
  let beginning = '';
  let isBeginning = true;
  for (const [token] of source.matchAll(tokens)) {
    if (/^(?:\(.*|[)|^$]|[*+?]\??|\{.*\})$/.test(token)) {
      close();
      if (token !== '^') isBeginning = false;
      continue;
    }
    const one = compiled(`^(?:${token})$`, flags.replaceAll(/[gy]/g, ''));
    const matching = SAMPLES.filter((sample) => one?.test(sample));
    const isLiteral = token.length === 1 && token !== '.';
    const sample = isLiteral ? token : (matching[0] ?? unescaped(token));
    if (isBeginning) beginning += sample;
    if (isLiteral || (token.startsWith('\\') && matching.length <= 1)) run += sample;
    else {
      close();
      for (const each of [...matching.slice(0, 2), ...matching.slice(-1)]) atoms.add(each);
    }
  }
  close();
  const parts = [...atoms].slice(0, 12);
  const pairs = parts.slice(0, 4).flatMap((one) => parts.slice(0, 4).map((other) => one + other));
  const pumps = new Set([...parts, ...pairs, parts.join('')]);
  return [...pumps]
    .filter((pump) => pump !== '')
    .flatMap((pump) => {
      const pumped = pump.repeat(Math.ceil(length / pump.length));
      return [`${pumped}\u0001`, `${beginning}${pumped}\u0001`, `${beginning}${pumped}\n`];
    });
}

const unescaped = (token: string): string => (/^\\.$/s.test(token) ? token.slice(1) : '\u00e9');

/** Undefined: not an expression. */
function compiled(source: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(source, flags);
  } catch {
    return undefined;
  }
}
