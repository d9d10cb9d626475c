// Documents from the web, politely: resolved by our own resolver, dialled only where it is allowed, bounded in size and time.

export interface FetchRequest {
  /** Lower-case names; `user-agent`, `host` and `accept-encoding` are set by the fetcher. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Unpacked; what is longer is cut and said to be. */
  readonly maxBytes: number;
  /** From the first look-up to the last byte, redirects included. */
  readonly timeoutMs: number;
  /** 5 by default. */
  readonly maxRedirects?: number;
  readonly signal?: AbortSignal;
}

export interface Redirect {
  /** 301, 302, 303, 307 or 308. */
  readonly status: number;
  /** Absolute, of where it leads. */
  readonly url: string;
}

/** How a fetch ended; never an exception. Any HTTP status is an answer. */
export type Fetched =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** Lower-case names; repeated ones joined by `, `. */
      readonly headers: Readonly<Record<string, string>>;
      /** Where the answer came from, after `redirects` in order. */
      readonly url: string;
      readonly redirects: readonly Redirect[];
      /** Unpacked. */
      readonly body: Buffer;
      readonly isTruncated: boolean;
    }
  | {
      readonly kind: 'failed';
      /** `forbidden`: an address, port or scheme that may not be visited; `unresolved`: the name has no address. */
      readonly reason: 'forbidden' | 'unresolved' | 'refused' | 'timeout' | 'failed' | 'redirects' | 'aborted';
      readonly detail: string;
      readonly redirects: readonly Redirect[];
    };

export interface DownloadRequest extends Omit<FetchRequest, 'maxBytes'> {
  /** As sent, not unpacked; more is a failure. */
  readonly maxBytes: number;
  /** Told as bytes come: how many lie in the file, and how many there will be where that is known. */
  readonly onProgress?: (doneBytes: number, totalBytes: number | undefined) => void;
}

/** `file` holds the whole document, as sent. */
export type Downloaded =
  | {
      readonly kind: 'downloaded';
      readonly sizeBytes: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly url: string;
    }
  | { readonly kind: 'answered'; readonly status: number; readonly headers: Readonly<Record<string, string>> }
  | Extract<Fetched, { kind: 'failed' }>;

export interface Fetcher extends AsyncDisposable {
  fetch(url: string, request: FetchRequest): Promise<Fetched>;
  /**
   * Fetches into `file`. The bytes come into `<file>.part`, with what identifies the document (ETag or Last-Modified)
   * beside it: a part of the same document is gone on with by `Range` and `If-Range`, another's is begun anew. The file
   * appears by a rename when it is whole.
   */
  download(url: string, file: string, request: DownloadRequest): Promise<Downloaded>;
}
