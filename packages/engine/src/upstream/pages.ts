// What a server says about itself, requested once for all of its models: they are opened at the same time.

/** For the models that are opened next. */
const KEPT_MS = 10_000;

export class UpstreamPages {
  readonly #known = new Map<string, { readonly page: Promise<unknown>; readonly atMs: number }>();

  /** The page of this name, requested unless it was a moment ago. A failure is shared and not kept. */
  read<Page>(name: string, request: () => Promise<Page>): Promise<Page> {
    const known = this.#known.get(name);
    // Each name has one type.
    if (known && performance.now() - known.atMs < KEPT_MS) return known.page as Promise<Page>;
    const page = request();
    this.#known.set(name, { page, atMs: performance.now() });
    page.catch(() => this.#known.delete(name));
    return page;
  }
}
