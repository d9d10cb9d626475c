// The form that creates a watchlist from pasted names or a file.
import { StackProblem } from '@strata/client';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button } from '../../ui/controls/button.tsx';
import { formatCount } from '../../ui/formats.ts';
import { Notice } from '../../ui/states.tsx';
import { stack } from '../answer/session.ts';
import { MIGRATED_TO, namesIn, RULES } from './rules.ts';

/** Some megabytes: 10,000 names have at most 2.5. */
const MAX_FILE_BYTES = 4_000_000;

export function NewList() {
  const queries = useQueryClient();
  const [names, setNames] = useState('');
  const [problem, setProblem] = useState<StackProblem>();
  const [isSending, setIsSending] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const body = contentOf(new FormData(form), names);
    setIsSending(true);
    try {
      await stack.send('POST /stack/v1/watchlists', { body });
      form.reset();
      setNames('');
      setProblem(undefined);
      await queries.invalidateQueries({ queryKey: ['/stack/v1/watchlists'] });
    } catch (error) {
      if (!(error instanceof StackProblem)) throw error;
      setProblem(error);
    } finally {
      setIsSending(false);
    }
  };
  const read = async (file: File | undefined) => {
    if (file && file.size <= MAX_FILE_BYTES) setNames(namesIn(await file.text()).join('\n'));
  };
  return (
    <form className="watch-form stack" onSubmit={(event) => void submit(event)}>
      <label>
        Name
        <input name="name" required maxLength={100} autoComplete="off" />
      </label>
      <label>
        Domains, {formatCount(namesIn(names).length, 'name')}
        <textarea
          value={names}
          onChange={({ target }) => setNames(target.value)}
          rows={5}
          placeholder={'example.com\nexample.org'}
          spellCheck={false}
          required
        />
      </label>
      <label>
        Or a file with names
        <input type="file" accept=".csv,.txt,text/*" onChange={({ target }) => void read(target.files?.[0])} />
      </label>
      <fieldset>
        <legend>Rules</legend>
        {Object.entries(RULES).map(([kind, label]) => (
          <label key={kind}>
            <input type="checkbox" name="rule" value={kind} defaultChecked={kind.endsWith('_provider')} /> {label}
          </label>
        ))}
      </fieldset>
      <label>
        {MIGRATED_TO}
        <input name="competitor" placeholder="Provider, optional" autoComplete="off" />
      </label>
      <label>
        Webhook
        <input name="url" type="url" placeholder="https://…, optional" autoComplete="off" spellCheck={false} />
      </label>
      <label>
        Form of the messages
        <select name="kind">
          <option value="webhook">Signed JSON (Standard Webhooks)</option>
          <option value="slack">Slack</option>
          <option value="teams">Teams</option>
        </select>
      </label>
      <label>
        Send
        <select name="digest">
          <option value="none">At once</option>
          <option value="hourly">Together, every hour</option>
          <option value="daily">Together, every day</option>
        </select>
      </label>
      <Button kind="primary" type="submit" disabled={isSending}>
        Create
      </Button>
      {problem && (
        <Notice title={problem.title} tone="warn">
          <p>{problem.errors.map(({ field, message }) => `${field}: ${message}`).join('; ') || problem.detail}</p>
        </Notice>
      )}
    </form>
  );
}

function contentOf(form: FormData, names: string) {
  const text = (name: string) => String(form.get(name) ?? '').trim();
  const rules: object[] = form.getAll('rule').map((kind) => ({ kind }));
  if (text('competitor') !== '') rules.push({ kind: 'migrated_to', provider: text('competitor') });
  const channel = { kind: text('kind'), url: text('url'), digest: text('digest') };
  return { name: text('name'), domains: namesIn(names), rules, channels: channel.url === '' ? [] : [channel] };
}
