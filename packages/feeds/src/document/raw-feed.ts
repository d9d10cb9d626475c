// A feed of any format as parsed, before URLs are resolved and dates validated.
import type { FeedFormat } from '../feed.ts';

/** Text of an item; `isHtml` if tags in it are markup. */
export interface RawText {
  readonly text: string;
  readonly isHtml: boolean;
  /** `xml:base` of the text and its ancestors, outermost first; they resolve against the item's. */
  readonly bases?: readonly string[];
}

export interface RawItem {
  /** Guid or id. */
  readonly id: string | undefined;
  readonly link: string | undefined;
  /** `xml:base` of the element with the link. */
  readonly linkBase?: string | undefined;
  readonly title: RawText | undefined;
  readonly date: string | undefined;
  readonly texts: readonly RawText[];
  /** Links of enclosures, sources and related links. */
  readonly related: readonly string[];
  /** `xml:base`. */
  readonly base: string | undefined;
}

export interface RawFeed {
  readonly format: FeedFormat;
  readonly title: RawText | undefined;
  readonly link: string | undefined;
  readonly base: string | undefined;
  readonly items: readonly RawItem[];
  /** Invalid items. */
  readonly skipped: number;
  readonly ttlMinutes: number | undefined;
  readonly updatePeriod: string | undefined;
  readonly updateFrequency: number | undefined;
  readonly skipHours: readonly number[];
  readonly skipDays: readonly string[];
}

export type RawReading =
  | { readonly ok: true; readonly feed: RawFeed }
  | { readonly ok: false; readonly problem: string };

/** Defaults for formats without a schedule. */
export const NO_SCHEDULE = {
  ttlMinutes: undefined,
  updatePeriod: undefined,
  updateFrequency: undefined,
  skipHours: [],
  skipDays: [],
} as const;

const MEDIA_TYPE = /^\s{0,9}(?:audio|image|video)\b/i;
/** Used if the type is missing or generic. */
const MEDIA_NAME =
  /\.(?:aac|avif|flac|gif|jpe?g|m3u8|m4[abv]|mov|mp[34]|mpe?g|og[agv]|opus|png|svg|wav|weba|webm|webp)(?:[?#]|$)/i;

export interface Enclosure {
  readonly url?: string | undefined;
  readonly type?: string | undefined;
}

/** URLs of enclosures other than images, audio and video. */
export function documentsOf(enclosures: readonly Enclosure[]): string[] {
  return enclosures.flatMap(({ url, type = '' }) => {
    return url === undefined || MEDIA_TYPE.test(type) || MEDIA_NAME.test(url) ? [] : [url];
  });
}
