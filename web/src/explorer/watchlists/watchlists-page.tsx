// The watchlists of the key: what their rules reported, and the messages that were sent.
import './watchlists.css';
import { StackProblem, type WatchDelivery, type Watchlist } from '@strata/client';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Card } from '../../ui/card/card.tsx';
import { Button, CopyButton } from '../../ui/controls/button.tsx';
import { Dialog } from '../../ui/controls/dialog.tsx';
import { formatCount, formatName, formatTime } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { Answer, AnswerCard, Problem, SourceOf } from '../answer/answer.tsx';
import { stack, useKey } from '../answer/session.ts';
import { useStack } from '../answer/use-stack.ts';
import { Page } from '../frame/page.tsx';
import { DomainLink } from '../links/links.tsx';
import { ListForm } from './list-form.tsx';
import { ruleLabel } from './rules.ts';

const LIST = '/stack/v1/watchlists/{id}';

export function Watchlists() {
  const key = useKey();
  const [id, setId] = useState<string>();
  const [edited, setEdited] = useState<string>();
  return (
    <Page
      title="Watchlists"
      lead="Rules about your domains that notify a webhook, Slack, Teams, e-mail or a feed reader."
    >
      <AnswerCard title="Your watchlists" path="/stack/v1/watchlists" input={{}}>
        {({ watchlists }) =>
          watchlists.length === 0 ? (
            <Empty>This key has no watchlists.</Empty>
          ) : (
            <ul className="watch-lists">
              {watchlists.map((list) => (
                <ListEntry key={list.id} list={list} isOpen={list.id === id} onOpen={setId} onEdit={setEdited} />
              ))}
            </ul>
          )
        }
      </AnswerCard>
      {id !== undefined && <Reports id={id} />}
      {edited !== undefined && (
        <AnswerCard key={edited} title="Change the watchlist" path={LIST} input={{ path: { id: edited } }}>
          {({ watchlist }) => <ListForm list={watchlist} onSaved={() => setEdited(undefined)} />}
        </AnswerCard>
      )}
      {key !== undefined && edited === undefined && (
        <Card title="New watchlist">
          <ListForm />
        </Card>
      )}
    </Page>
  );
}

interface ListEntryProps {
  readonly list: Watchlist;
  readonly isOpen: boolean;
  readonly onOpen: (id: string | undefined) => void;
  readonly onEdit: (id: string | undefined) => void;
}

function ListEntry({ list, isOpen, onOpen, onEdit }: ListEntryProps) {
  const queries = useQueryClient();
  const [isDeleting, setDeleting] = useState(false);
  const [problem, setProblem] = useState<StackProblem>();
  const { id } = list;
  const send = async (request: 'DELETE /stack/v1/watchlists/{id}' | 'POST /stack/v1/watchlists/{id}:test') => {
    const isDeleted = request.startsWith('DELETE');
    setProblem(undefined);
    // Before the list is deleted: what is open asks for its messages.
    if (isDeleted) onOpen(undefined);
    try {
      await stack.send(request, { path: { id } });
    } catch (error) {
      if (!(error instanceof StackProblem)) throw error;
      return setProblem(error);
    }
    if (isDeleted) onEdit(undefined);
    else onOpen(id);
    await queries.invalidateQueries({ predicate: ({ queryKey: [path] }) => String(path).includes('/watchlists') });
  };
  return (
    <li>
      <div>
        <strong>{list.name}</strong>
        <p className="small soft">
          {list.query !== undefined && (
            <>
              <code>{list.query}</code> ·{' '}
            </>
          )}
          {formatCount(list.domain_count, 'domain')} · {list.rules.map(({ kind }) => ruleLabel(kind)).join(', ')}
        </p>
        {list.channels.map(({ id: channel, kind, url, to, secret, quiet_hours: quiet, confirmation }) => (
          <p key={channel} className="small watch-channel">
            {formatName(kind)} <code>{url ?? to}</code> {secret && <Secret text={secret} />}
            {confirmation && ` · ${CONFIRMATIONS[confirmation]}`}
            {quiet && ` · quiet ${quiet.from}–${quiet.to}`}
          </p>
        ))}
      </div>
      <div className="watch-actions">
        <Button kind="small" aria-expanded={isOpen} onClick={() => onOpen(isOpen ? undefined : id)}>
          {isOpen ? 'Close' : 'Open'}
        </Button>
        <Button kind="small" onClick={() => onEdit(id)}>
          Edit
        </Button>
        <a className="button small" href={list.feed}>
          Feed
        </a>
        {list.channels.length > 0 && (
          <Button kind="small" onClick={() => void send('POST /stack/v1/watchlists/{id}:test')}>
            Test
          </Button>
        )}
        <Button kind="small" onClick={() => setDeleting(true)}>
          Delete
        </Button>
      </div>
      {problem && <Problem problem={problem} />}
      {isDeleting && (
        <Dialog
          title={`Delete the watchlist “${list.name}”?`}
          action="Delete"
          onClose={(isConfirmed) => {
            setDeleting(false);
            if (isConfirmed) void send('DELETE /stack/v1/watchlists/{id}');
          }}
        >
          <p className="soft">Its notifications and messages are deleted too, and its feed address ends.</p>
        </Dialog>
      )}
    </li>
  );
}

const CONFIRMATIONS = { waiting: 'not confirmed yet', confirmed: 'confirmed', refused: 'unsubscribed' } as const;

function Secret({ text }: { readonly text: string }) {
  return (
    <>
      · secret <CopyButton text={text} label="Copy the secret" />
    </>
  );
}

/** Each request uses the quota; while a message is sent, such as a test, its result is shown as soon as it is known. */
const POLL_MS = 60_000;
const SENDING_POLL_MS = 2_000;

const isBeingSent = ({ kind, state, attempts, next_attempt_at: next }: WatchDelivery): boolean =>
  state === 'pending' && attempts === 0 && (kind === 'test' || Date.parse(next ?? '') <= Date.now());

function Reports({ id }: { readonly id: string }) {
  const input = { path: { id } };
  const [isSending, setSending] = useState(false);
  const messages = useStack(`${LIST}/deliveries`, input, { pollMs: isSending ? SENDING_POLL_MS : POLL_MS });
  const isAnySent = messages.data?.body.deliveries.some(isBeingSent) === true;
  useEffect(() => setSending(isAnySent), [isAnySent]);
  return (
    <>
      <AnswerCard title="Notifications" path={`${LIST}/notifications`} input={input} pollMs={POLL_MS} width="half">
        {({ notifications }) =>
          notifications.length === 0 ? (
            <Empty>The rules have reported nothing yet.</Empty>
          ) : (
            <ul className="watch-lists">
              {notifications.map((each) => (
                <li key={each.id}>
                  <div>
                    {each.title}
                    <p className="small soft">
                      {formatTime(each.at)} · <DomainLink domain={each.domain} />
                    </p>
                  </div>
                </li>
              ))}
            </ul>
          )
        }
      </AnswerCard>
      <Card title="Messages" width="half" foot={<SourceOf query={messages} />}>
        <Answer query={messages}>
          {({ deliveries }) =>
            deliveries.length === 0 ? (
              <Empty>No message was sent yet.</Empty>
            ) : (
              <ul className="watch-lists">
                {deliveries.map((each) => (
                  <Delivery key={each.id} list={id} delivery={each} />
                ))}
              </ul>
            )
          }
        </Answer>
      </Card>
    </>
  );
}

const STATES = { pending: 'waiting', delivered: 'delivered', dead: 'failed, not tried again' } as const;

function Delivery({ list, delivery }: { readonly list: string; readonly delivery: WatchDelivery }) {
  const queries = useQueryClient();
  const { id, kind, state, notifications, attempts, error, created_at, next_attempt_at } = delivery;
  const replay = async () => {
    await stack.send('POST /stack/v1/watchlists/{id}/deliveries/{delivery}:replay', {
      path: { id: list, delivery: id },
    });
    await queries.invalidateQueries({ queryKey: [`${LIST}/deliveries`] });
  };
  return (
    <li>
      <div>
        {kind === 'notifications' ? formatCount(notifications, 'notification') : formatName(kind)}: {STATES[state]}
        <p className="small soft">
          {formatTime(created_at)} · {formatCount(attempts, 'attempt')}
          {error && ` · ${error}`}
          {next_attempt_at && ` · next ${formatTime(next_attempt_at)}`}
        </p>
      </div>
      {kind !== 'confirmation' && (
        <Button kind="small" onClick={() => void replay()}>
          {state === 'pending' ? 'Send now' : 'Send again'}
        </Button>
      )}
    </li>
  );
}
