// The script of a page on its way: what did not come for want of a connection is no page that is gone.
import { connectionNow, tellUnreached } from '../answer/connection.ts';

/** A page's script could not be fetched, and can be once there is a connection. */
export class PageNotLoaded extends Error {
  override readonly name = 'PageNotLoaded';
}

/**
 * The module. Throws PageNotLoaded where there is no connection: for every other failure the router fetches the whole
 * page anew, since a newer build names its files otherwise; offline that would lose what is open.
 */
export async function loaded<M>(module: Promise<M>): Promise<M> {
  try {
    return await module;
  } catch (cause) {
    if (navigator.onLine) {
      const isThere = await fetch('/health', { cache: 'no-store' }).then(
        () => true,
        () => false,
      );
      if (isThere) throw cause;
    }
    if (connectionNow() === 'good') tellUnreached();
    throw new PageNotLoaded('The script of this page could not be fetched.', { cause });
  }
}
