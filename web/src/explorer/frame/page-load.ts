// Loads the script of a page and distinguishes a missing connection from a missing file.
import { currentConnection, isReachable, reportUnreachable } from '../answer/connection.ts';

/** The script of a page could not be fetched because there is no connection. */
export class PageNotLoaded extends Error {
  override readonly name = 'PageNotLoaded';
}

/**
 * The module. Throws PageNotLoaded if there is no connection. For other errors the router reloads the page, since a newer
 * build has other file names; offline, a reload would lose the loaded data.
 */
export async function pageModule<M>(module: Promise<M>): Promise<M> {
  try {
    return await module;
  } catch (cause) {
    if (navigator.onLine && (await isReachable())) throw cause;
    if (currentConnection() === 'online') reportUnreachable();
    throw new PageNotLoaded('The script of this page could not be fetched.', { cause });
  }
}
