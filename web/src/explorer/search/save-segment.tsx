// Saves the query of the search under a name.
import { StackProblem } from '@strata/client';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Button } from '../../ui/controls/button.tsx';
import { stack } from '../answer/session.ts';

export function SaveSegment({ query }: { readonly query: string }) {
  const queries = useQueryClient();
  const [saved, setSaved] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const save = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get('name')).trim().toLowerCase();
    setSaved(undefined);
    setProblem(undefined);
    try {
      await stack.send('PUT /stack/v1/segments/{name}', { path: { name }, body: { query } });
      setSaved(name);
      await queries.invalidateQueries({ queryKey: ['/stack/v1/segments'] });
    } catch (error) {
      if (!(error instanceof StackProblem)) throw error;
      setProblem(error.errors[0]?.message ?? error.detail);
    }
  };
  return (
    <form className="fields" onSubmit={(event) => void save(event)} aria-label="Save as a segment">
      <label className="field">
        Save the query as a segment
        <input
          name="name"
          required
          maxLength={64}
          placeholder="retail-without-dmarc"
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          aria-invalid={problem !== undefined}
        />
      </label>
      <Button type="submit">Save</Button>
      <p className={problem === undefined ? 'small soft' : 'small field-problem'} role="status">
        {problem}
        {saved !== undefined && (
          <>
            <code>segment:{saved}</code> can be used in queries.{' '}
            <Link to="/compare" search={{ kind: 'segments', a: `segment:${saved}` }}>
              Compare it
            </Link>
          </>
        )}
      </p>
    </form>
  );
}
