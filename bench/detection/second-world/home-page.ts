// The home page of a company: headers, cookies, and the tags that its services put on it.

export interface Page {
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly html: string;
}

export class HomePage {
  readonly #headers = new Map<string, string>();
  readonly #cookies: string[] = [];
  readonly #html: string[] = [];

  /** Whether the page shows it: of two headers of one name the first service's is sent; only `via` keeps both. */
  add(kind: string, rest: string): boolean {
    if (kind === 'HEADER') {
      const { name, value } = split(rest, ':');
      const before = this.#headers.get(name);
      if (before !== undefined && name !== 'via') return false;
      this.#headers.set(name, before === undefined ? value : `${value}, ${before}`);
    } else if (kind === 'COOKIE') this.#cookies.push(`${rest}=1; path=/`);
    else if (kind === 'META') {
      const { name, value } = split(rest, '=');
      this.#html.push(`<meta name="${name}" content="${value}">`);
    } else if (kind === 'SCRIPT') this.#html.push(`<script src="${rest}"></script>`);
    else throw new RangeError(`no kind of record ${kind}`);
    return true;
  }

  page(title: string): Page {
    const head = `<title>${title}</title>${this.#html.join('\n')}`;
    const html = `<!doctype html><html><head>${head}</head><body><h1>${title}</h1><p>About us. Products. Contact.</p></body></html>`;
    return { headers: { ...Object.fromEntries(this.#headers), 'set-cookie': this.#cookies }, html };
  }
}

function split(text: string, separator: string): { readonly name: string; readonly value: string } {
  const at = text.indexOf(separator);
  return { name: text.slice(0, at), value: text.slice(at + 1).trim() };
}
