// The public description of this installation, available without an API key.
import { useQuery } from '@tanstack/react-query';

interface Site {
  /** Undefined while loading, and if it cannot be loaded. */
  readonly exampleDomain?: string;
  /** An http(s) URL; undefined if there is no chat. */
  readonly chatUrl?: string;
  /** A demo in which all domains are invented. */
  readonly isSimulated?: boolean;
}

export function useSite(): Site {
  const { data = {} } = useQuery({
    queryKey: ['site'],
    queryFn: ({ signal }) => ask(signal),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return data;
}

async function ask(signal: AbortSignal): Promise<Site> {
  const response = await fetch('/site.json', { signal }).catch((cause) => {
    throw Object.assign(new Error('ask for site.json', { cause }), { code: 'network' });
  });
  if (!response.ok) throw new Error(`site.json: ${response.status}`);
  const body = (await response.json()) as {
    readonly example_domain: string;
    readonly chat_url?: string | null;
    readonly is_simulated?: boolean;
  };
  const chat = body.chat_url ?? '';
  return {
    exampleDomain: body.example_domain,
    isSimulated: body.is_simulated === true,
    // It becomes a link, so only http(s) URLs are accepted.
    ...(/^https?:\/\//.test(chat) && { chatUrl: chat }),
  };
}
