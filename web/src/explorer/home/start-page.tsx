// The page “Get started”: API key with its quota, complete example requests, and how to verify an answer.
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Card, Figure, Figures } from '../../ui/card/card.tsx';
import { Button, Command } from '../../ui/controls/button.tsx';
import { FreeKey } from '../../ui/controls/free-key.tsx';
import { formatTime } from '../../ui/formats.ts';
import { Notice } from '../../ui/states.tsx';
import { KeyForm } from '../answer/answer.tsx';
import { getFreeKey, setKey, stack, useKey, useQuota } from '../answer/session.ts';
import { Page } from '../frame/page.tsx';
import { useSite } from '../site.ts';
import { KeyUsage } from './key-usage.tsx';

export function Start() {
  const key = useKey();
  const { exampleDomain: domain = 'example.com', chatUrl } = useSite();
  const withKey = (command: string) => (key === undefined ? command : command.replace('YOUR_KEY', key));
  return (
    <Page
      title="Get started"
      lead="Get an API key, send your first request, and verify the answer. All data on these pages comes from the same API."
    >
      <Card title="1. Your API key">{key === undefined ? <NoKey /> : <CurrentKey value={key} />}</Card>
      <Card title="2. First requests">
        <p className="soft">
          {key === undefined
            ? 'Replace YOUR_KEY with your API key. Once you have a key, these commands contain it.'
            : 'Complete commands with your API key.'}
        </p>
        <div className="columns">
          {requests(domain).map(([title, command]) => (
            <section key={title}>
              <h3>{title}</h3>
              <Command text={withKey(command)} />
            </section>
          ))}
        </div>
      </Card>
      <Card title="3. Verify an answer">
        <ol className="numbered stack prose">
          <li>
            Each JSON answer has a receipt, <code>provenance</code>: an Ed25519 signature over the canonical body (RFC
            8785).
          </li>
          <li>
            The signing keys are public: <a href="/.well-known/stack-keys.json">key set</a>.
          </li>
          <li>
            Before an answer is sent, a leaf for its receipt is added to an append-only log:{' '}
            <a href="/ledger/checkpoint">checkpoint</a>.
          </li>
          <li>
            <em>API and receipt</em> below each card has a Verify button: your browser verifies the signature, the leaf,
            its inclusion in the log, and the checkpoint.
          </li>
          <li>On the command line, from a checkout of Strata:</li>
        </ol>
        <Command
          text={withKey(
            `npx strata stack verify '${stack.url('/stack/v1/domains/{domain}', { path: { domain } })}' --key YOUR_KEY`,
          )}
        />
      </Card>
      {chatUrl !== undefined && <Chat url={chatUrl} />}
      <Card title="Further reading">
        <ul className="link-list">
          <li>
            <a href="/reference">API reference</a>
            <span className="small soft">All endpoints with parameters and responses, interactive</span>
          </li>
          <li>
            <a href="/openapi.json">OpenAPI 3.1</a>
            <span className="small soft">The API description for client generators</span>
          </li>
          <li>
            <Link to="/status">Status</Link>
            <span className="small soft">Service health, data coverage and freshness</span>
          </li>
        </ul>
      </Card>
    </Page>
  );
}

/** The chat is a separate service with separate API keys. */
function Chat({ url }: { readonly url: string }) {
  return (
    <Card title="4. Chat">
      <p>
        The <a href={url}>chat</a> is a separate service with separate API keys. If it offers free keys, you can get one
        on its page or with this request:
      </p>
      <Command text={`curl -X POST ${new URL('/keys', url)}`} />
      <p className="soft">
        Any client for the chat completions API works with that key and the base URL{' '}
        <code>{new URL('/v1', url).href}</code>.
      </p>
    </Card>
  );
}

function NoKey() {
  return (
    <div className="stack">
      <p>
        50 requests a day, free, without an account. The service stores only a hash and shows a key once; this browser
        stores the key for you.
      </p>
      <FreeKey create={getFreeKey} />
      <KeyForm />
    </div>
  );
}

function CurrentKey({ value }: { readonly value: string }) {
  const quota = useQuota();
  return (
    <div className="stack">
      <Command text={value} label="Copy key" />
      <p className="soft">
        This key is stored in this browser only; the service stores a hash. Save a copy in your password manager. Anyone
        who has the key can use its quota.
      </p>
      {quota && (
        <Figures>
          <Figure name="Remaining today" value={quota.remaining} />
          <Figure name="Daily quota" value={quota.limit} />
          <Figure name="Resets at" value={formatTime(quota.resetsAt?.getTime())} />
        </Figures>
      )}
      <p className="small soft">
        {quota ? '' : 'The remaining quota is shown after the first request, unless the key is unlimited. '}
        Each API call uses one request. Answers cached by these pages for a minute, search suggestions, and receipt
        verification use none. The quota resets at midnight UTC. When it is used up, the API returns 429 with{' '}
        <code>Retry-After</code>.
      </p>
      <details>
        <summary>Usage of this key</summary>
        <KeyUsage />
      </details>
      <RemoveKey />
      <details>
        <summary>Use another key</summary>
        <KeyForm />
      </details>
    </div>
  );
}

/** Requires confirmation: the key cannot be recovered. */
function RemoveKey() {
  const [isConfirming, setConfirming] = useState(false);
  if (!isConfirming) {
    return (
      <p>
        <Button kind="small" onClick={() => setConfirming(true)}>
          Remove key
        </Button>
      </p>
    );
  }
  const actions = (
    <>
      <Button kind="small" onClick={() => setKey(undefined)}>
        Remove permanently
      </Button>
      <Button kind="small" onClick={() => setConfirming(false)}>
        Cancel
      </Button>
    </>
  );
  return (
    <Notice title="Remove this key?" tone="warn" actions={actions}>
      <p>The key cannot be recovered. Make sure that you have a copy or no longer need it.</p>
    </Notice>
  );
}

/** The title and the complete command of each kind of request. */
const requests = (domain: string) =>
  [
    ['Profile of a domain', stack.curl('/stack/v1/domains/{domain}', { path: { domain } })],
    ['Domains that use a provider', stack.curl('/stack/v1/search', { query: { provider: 'cloudflare', limit: 10 } })],
    ['Statistics of all domains', stack.curl('/stack/v1/stats', {})],
    [
      'Market share of mail providers',
      stack.curl('/stack/v1/intelligence/market-share', { query: { category: 'email' } }),
    ],
    ['Latest alerts', stack.curl('/stack/v1/alerts', { query: { limit: 20 } })],
    ['Live stream of changes (stop with Ctrl-C)', withOptions(stack.curl('/stack/v1/stream', {}), '-N')],
    [
      'CSV export with its receipt',
      withOptions(stack.curl('/stack/v1/security/export.csv', {}), '-D headers.txt -o security.csv'),
    ],
  ] as const;

function withOptions(command: string, options: string): string {
  return command.replace(/^curl /, `curl ${options} `);
}
