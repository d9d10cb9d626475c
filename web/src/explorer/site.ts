// The public description of this installation.
import { fieldsOf, linkOf, useSiteQuery } from '../ui/site.ts';

interface Site {
  /** Undefined while loading, and if it cannot be loaded. */
  readonly exampleDomain?: string | undefined;
  /** Undefined if there is no chat. */
  readonly chatUrl?: string | undefined;
  /** A demo in which all domains are invented. */
  readonly isSimulated?: boolean;
}

function siteOf(body: unknown): Site {
  const { example_domain: domain, chat_url, is_simulated } = fieldsOf(body);
  return {
    exampleDomain: typeof domain === 'string' ? domain : undefined,
    chatUrl: linkOf(chat_url),
    isSimulated: is_simulated === true,
  };
}

export const useSite = (): Site => useSiteQuery(siteOf).data ?? {};
