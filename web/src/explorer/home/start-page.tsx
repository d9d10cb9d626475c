// Getting started: a key, what is left of its day, first requests that work as they stand, and how an answer is checked.
import './start.css';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Card, Figure, Figures } from '../../ui/card/card.tsx';
import { Command } from '../../ui/command.tsx';
import { formatNumber, formatTime } from '../../ui/formats.ts';
import { FreeKeyButton, OtherKey } from '../answer/answer.tsx';
import { setKey, stack, useKey, useQuota } from '../answer/session.ts';
import { Page } from '../frame/page.tsx';
import { useSite } from '../site.ts';

export function Start() {
  const key = useKey();
  const { exampleDomain: domain = 'example.com', chatUrl } = useSite();
  const withKey = (command: string) => (key === undefined ? command : command.replace('YOUR_KEY', key));
  return (
    <Page
      title="Get started"
      lead="A key, a first request, and how to check the answer. Everything in these pages comes from the same API."
    >
      <Card title="1. Your key">{key === undefined ? <NoKey /> : <TheKey value={key} />}</Card>
      <Card title="2. First requests">
        <p className="soft">
          {key === undefined
            ? 'Complete commands; your key takes the place of YOUR_KEY once you have one.'
            : 'Complete commands, with your key.'}
        </p>
        <div className="start-requests">
          {requests(domain).map(({ title, command }) => (
            <section key={title}>
              <h3>{title}</h3>
              <Command text={withKey(command)} />
            </section>
          ))}
        </div>
      </Card>
      <Card title="3. Check an answer">
        <ol className="start-lines">
          <li>
            Each JSON answer has a receipt, <code>provenance</code>: an Ed25519 signature over the whole body in the
            form of RFC 8785.
          </li>
          <li>
            The keys that sign are public: <a href="/.well-known/stack-keys.json">key set</a>.
          </li>
          <li>
            Before an answer leaves, a leaf of its receipt is put in a log that can only grow:{' '}
            <a href="/ledger/checkpoint">checkpoint</a>.
          </li>
          <li>
            <em>API and receipt</em> under each card has a Verify button: your browser checks the signature, the leaf,
            its place in the log, and the checkpoint.
          </li>
          <li>From a checkout of Strata, the same on the command line:</li>
        </ol>
        <Command
          text={withKey(
            `npx strata stack verify '${stack.url('/stack/v1/domains/{domain}', { path: { domain } })}' --key YOUR_KEY`,
          )}
        />
      </Card>
      {chatUrl !== undefined && <Chat url={chatUrl} />}
      <Card title="Read on">
        <ul className="start-links">
          <li>
            <a href="/reference">API reference</a>
            <span className="small soft">Every question, its parameters and answers, to try out</span>
          </li>
          <li>
            <a href="/openapi.json">OpenAPI 3.1</a>
            <span className="small soft">The same, for tools that write clients</span>
          </li>
          <li>
            <Link to="/status">Status</Link>
            <span className="small soft">How fresh the data is</span>
          </li>
        </ul>
      </Card>
    </Page>
  );
}

/** The other service: its keys are not those of this one. */
function Chat({ url }: { readonly url: string }) {
  return (
    <Card title="4. Chat">
      <p>
        <a href={url}>The chat</a> is a service of its own, with keys of its own. Where it gives them away, its page has
        a button for one, and a program gets one like this:
      </p>
      <Command text={`curl -X POST ${new URL('/keys', url)}`} />
      <p className="soft">
        Any client for chat completions works with that key and the address <code>{new URL('/v1', url).href}</code>.
      </p>
    </Card>
  );
}

function NoKey() {
  return (
    <div className="start-key">
      <p>
        Free, without an account: 50 requests a day. The service keeps only a hash, so it shows a key once; this browser
        keeps it for you.
      </p>
      <FreeKeyButton />
      <OtherKey />
    </div>
  );
}

function TheKey({ value }: { readonly value: string }) {
  const quota = useQuota();
  return (
    <div className="start-key">
      <Command text={value} label="Copy the key" />
      <p className="soft">
        Kept in this browser only. The service shows a key once and keeps a hash of it: copy it to where you keep
        passwords. Who has it can use its requests.
      </p>
      {quota && (
        <Figures>
          <Figure name="Left today">{formatNumber(quota.remaining)}</Figure>
          <Figure name="Requests a day">{formatNumber(quota.limit)}</Figure>
          <Figure name="New ones from">
            <span className="start-time">{formatTime(quota.resetsAt?.toISOString())}</span>
          </Figure>
        </Figures>
      )}
      <p className="small soft">
        {quota
          ? ''
          : 'Each answer tells what is left, unless the key has no limit; these pages have asked nothing yet since they were opened. '}
        A page or a command that asks costs one request; what these pages asked in the last minute, suggestions while
        you type, and checks of receipts cost none. The day is that of UTC. When it is used up, answers are 429 with{' '}
        <code>Retry-After</code>.
      </p>
      <Forget />
      <details>
        <summary>Use another key</summary>
        <OtherKey />
      </details>
    </div>
  );
}

/** In two steps: nobody can show the key again. */
function Forget() {
  const [isAsked, setAsked] = useState(false);
  if (!isAsked) {
    return (
      <p>
        <button className="button small" type="button" onClick={() => setAsked(true)}>
          Forget this key
        </button>
      </p>
    );
  }
  return (
    <div className="start-forget" role="alert">
      <p>Nobody can show it to you again. Is it kept elsewhere, or not needed any more?</p>
      <div className="actions">
        <button className="button small" type="button" onClick={() => setKey(undefined)}>
          Forget it for good
        </button>
        <button className="button small" type="button" onClick={() => setAsked(false)}>
          Keep it
        </button>
      </div>
    </div>
  );
}

/** One of each kind, all complete. */
function requests(domain: string): readonly { readonly title: string; readonly command: string }[] {
  return [
    { title: 'What a domain uses', command: stack.curl('/stack/v1/domains/{domain}', { path: { domain } }) },
    {
      title: 'Domains that use a provider',
      command: stack.curl('/stack/v1/search', { query: { provider: 'cloudflare', limit: 10 } }),
    },
    { title: 'All domains in figures', command: stack.curl('/stack/v1/stats', {}) },
    {
      title: 'Who leads the market for mail',
      command: stack.curl('/stack/v1/intelligence/market-share', { query: { category: 'email' } }),
    },
    { title: 'What has happened lately', command: stack.curl('/stack/v1/alerts', { query: { limit: 20 } }) },
    {
      title: 'Changes as they happen, until you press Ctrl-C',
      command: withOptions(stack.curl('/stack/v1/stream', {}), '-N'),
    },
    {
      title: 'A table for a spreadsheet, with its receipt',
      command: withOptions(stack.curl('/stack/v1/security/export.csv', {}), '-D headers.txt -o security.csv'),
    },
  ];
}

function withOptions(command: string, options: string): string {
  return command.replace(/^curl /, `curl ${options} `);
}
