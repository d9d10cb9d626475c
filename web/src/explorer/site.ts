// What this installation is: the domain that it shows to newcomers, and where its chat is. Known without a key.
import { useQuery } from '@tanstack/react-query';

interface Site {
  /** Undefined until they are known, and where they cannot be had. */
  readonly exampleDomain?: string;
  /** An address on the web; undefined where there is no chat. */
  readonly chatUrl?: string;
  /** A demo: all domains are invented. */
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
  const told = (await response.json()) as {
    readonly example_domain: string;
    readonly chat_url?: string | null;
    readonly is_simulated?: boolean;
  };
  const chat = told.chat_url ?? '';
  return {
    exampleDomain: told.example_domain,
    isSimulated: told.is_simulated === true,
    // It becomes a link: nothing but an address of the web may stand there.
    ...(/^https?:\/\//.test(chat) && { chatUrl: chat }),
  };
}
