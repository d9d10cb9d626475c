// The form that creates or changes a watchlist: pasted names, a file or a query, rules and channels.
import { StackProblem, type Watchlist } from '@strata/client';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button } from '../../ui/controls/button.tsx';
import { formatCount } from '../../ui/formats.ts';
import { Notice } from '../../ui/states.tsx';
import { stack } from '../answer/session.ts';
import { rowsOf } from '../lookup/lookup-page.tsx';
import { readFile } from '../lookup/name-list.ts';
import { type Channel, ChannelFields, channelsIn } from './channel-fields.tsx';
import { isPlain, MIGRATED_TO, namesIn, RULES, type Rule, ruleLabel } from './rules.ts';

const MAX_CHANNELS = 5;

interface ListFormProps {
  /** The list that is changed; a new one without it. */
  readonly list?: Watchlist & { readonly domains: readonly string[] };
  readonly onSaved?: () => void;
}

export function ListForm({ list, onSaved }: ListFormProps) {
  const queries = useQueryClient();
  const [names, setNames] = useState(list && list.query === undefined ? list.domains.join('\n') : '');
  const [query, setQuery] = useState(list?.query ?? '');
  const [channels, setChannels] = useState(() => (list?.channels ?? []).map(rowOf));
  const [problem, setProblem] = useState<StackProblem>();
  const [isSending, setIsSending] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const watched = query.trim() === '' ? { domains: namesIn(names) } : { query };
    const body = { ...watched, ...contentOf(new FormData(form), list?.rules ?? []), channels: channelsIn(form) };
    setIsSending(true);
    try {
      if (list) await stack.send('PUT /stack/v1/watchlists/{id}', { path: { id: list.id }, body });
      else await stack.send('POST /stack/v1/watchlists', { body });
      form.reset();
      setNames('');
      setQuery('');
      setChannels([]);
      setProblem(undefined);
      await queries.invalidateQueries({ predicate: ({ queryKey: [path] }) => String(path).includes('/watchlists') });
      onSaved?.();
    } catch (error) {
      if (!(error instanceof StackProblem)) throw error;
      setProblem(error);
    } finally {
      setIsSending(false);
    }
  };
  const [note, setNote] = useState('');
  const [skipped, setSkipped] = useState<readonly SkippedRow[]>([]);
  // The service finds the column with the names, as for other lists.
  const read = async (file: File | undefined) => {
    if (!file) return;
    setSkipped([]);
    try {
      const rows = await rowsOf(await readFile(file), ['domain', 'registrable', 'error']);
      const found = rows.flatMap(({ registrable }) => registrable ?? []);
      setNames([...new Set(found)].join('\n'));
      setSkipped(rows.filter(({ registrable }) => !registrable));
      setNote('');
    } catch (error) {
      setNote(error instanceof Error ? error.message : '');
    }
  };
  const hasRule = (kind: string) => list?.rules.some((rule) => rule.kind === kind && isPlain(rule));
  return (
    <form className="watch-form stack" onSubmit={(event) => void submit(event)}>
      <label>
        Name
        <input name="name" required maxLength={100} defaultValue={list?.name} autoComplete="off" />
      </label>
      <label>
        Domains, {formatCount(namesIn(names).length, 'name')}
        <textarea
          value={names}
          onChange={({ target }) => setNames(target.value)}
          rows={5}
          placeholder={'example.com\nexample.org'}
          spellCheck={false}
          required={query === ''}
          disabled={query !== ''}
        />
      </label>
      <label>
        Or a file with names, 100 of which cost a request of the quota
        <input type="file" accept=".csv,.txt,text/*" onChange={({ target }) => void read(target.files?.[0])} />
      </label>
      <div className="small soft" role="status">
        {note}
        {skipped.length > 0 && <SkippedRows rows={skipped} />}
      </div>
      <label>
        Or a query, whose domains are followed
        <input
          value={query}
          onChange={({ target }) => setQuery(target.value)}
          placeholder="provider:cloudflare AND tld:de"
          autoComplete="off"
          spellCheck={false}
        />
      </label>
      <fieldset>
        <legend>Rules</legend>
        {Object.entries(RULES).map(([kind, label]) => (
          <label key={kind}>
            <input
              type="checkbox"
              name="rule"
              value={kind}
              defaultChecked={list ? hasRule(kind) : kind.endsWith('_provider')}
            />{' '}
            {label}
          </label>
        ))}
        {list?.rules.map(
          (rule, i) =>
            !isPlain(rule) && (
              <label key={`kept ${ruleText(rule)}`}>
                <input type="checkbox" name="kept" value={i} defaultChecked /> {ruleText(rule)}
              </label>
            ),
        )}
      </fieldset>
      <label>
        {MIGRATED_TO}
        <input name="competitor" placeholder="Provider, optional" autoComplete="off" />
      </label>
      {channels.map(({ row, channel }) => (
        <ChannelFields
          key={row}
          channel={channel}
          onRemove={() => setChannels(channels.filter((each) => each.row !== row))}
        />
      ))}
      <div className="watch-actions">
        {channels.length < MAX_CHANNELS && (
          <Button onClick={() => setChannels([...channels, rowOf(undefined)])}>Add a channel</Button>
        )}
        <Button kind="primary" type="submit" disabled={isSending}>
          {list ? 'Save' : 'Create'}
        </Button>
      </div>
      {problem && (
        <Notice title={problem.title} tone="warn">
          <ul>
            {problem.errors.map(({ field, message }) => (
              <li key={field}>{`${nameOf(field, names)}: ${message}`}</li>
            ))}
          </ul>
          {problem.errors.length !== 1 && <p>{problem.detail}</p>}
        </Notice>
      )}
    </form>
  );
}

type SkippedRow = Awaited<ReturnType<typeof rowsOf>>[number];

const MAX_SHOWN = 20;

/** What was not taken from a file, and why. */
function SkippedRows({ rows }: { readonly rows: readonly SkippedRow[] }) {
  return (
    <>
      {formatCount(rows.length, 'row')} skipped:
      <ul>
        {rows.slice(0, MAX_SHOWN).map(({ domain, error }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows may be equal, and do not move
          <li key={i}>
            {domain && <code>{domain}</code>} {error}
          </li>
        ))}
        {rows.length > MAX_SHOWN && <li>and {formatCount(rows.length - MAX_SHOWN, 'more row')}</li>}
      </ul>
    </>
  );
}

/** The domain that a field of the request names, or the field. */
const nameOf = (field: string, names: string): string => {
  const [, number] = /^domains\.(\d+)$/.exec(field) ?? [];
  return (number && namesIn(names)[Number(number)]) || field;
};

const rowOf = (channel: Channel | undefined) => ({ row: crypto.randomUUID(), channel });

const ruleText = ({ kind, ...conditions }: Rule) => `${ruleLabel(kind)}: ${Object.values(conditions).join(', ')}`;

/** `before` are the rules that the list has: those with conditions are kept by their numbers. */
function contentOf(form: FormData, before: readonly Rule[]) {
  const text = (name: string) => String(form.get(name) ?? '').trim();
  const rules: object[] = form.getAll('rule').map((kind) => ({ kind }));
  for (const number of form.getAll('kept')) rules.push(before[Number(number)] ?? {});
  if (text('competitor') !== '') rules.push({ kind: 'migrated_to', provider: text('competitor') });
  return { name: text('name'), rules };
}
