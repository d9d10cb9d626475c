// What is attached to an item. Pictures and recordings lie where a publisher's files lie: they name nobody.

const MEDIA_TYPE = /^\s{0,9}(?:audio|image|video)\b/i;
/** Where the type is missing or says nothing. */
const MEDIA_NAME =
  /\.(?:aac|avif|flac|gif|jpe?g|m3u8|m4[abv]|mov|mp[34]|mpe?g|og[agv]|opus|png|svg|wav|weba|webm|webp)(?:[?#]|$)/i;

export interface Enclosure {
  readonly url?: string | undefined;
  readonly type?: string | undefined;
}

/** Addresses of those that are neither pictures nor recordings. */
export function documentsOf(enclosures: readonly Enclosure[]): string[] {
  return enclosures.flatMap(({ url, type = '' }) => {
    return url === undefined || MEDIA_TYPE.test(type) || MEDIA_NAME.test(url) ? [] : [url];
  });
}
