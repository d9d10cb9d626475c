// The button that requests a free API key without sign-up.
import { useState } from 'react';
import { Button } from './button.tsx';

interface FreeKeyProps {
  /** Creates and stores a key; the message of its error is shown. */
  readonly create: () => Promise<void>;
}

export function FreeKey({ create }: FreeKeyProps) {
  const [state, setState] = useState<'busy' | { readonly problem: string } | null>(null);
  const get = async () => {
    // A second press would consume another of the keys allowed per address.
    if (state === 'busy') return;
    setState('busy');
    try {
      await create();
      setState(null);
    } catch (error) {
      setState({ problem: error instanceof Error ? error.message : 'The key could not be created.' });
    }
  };
  return (
    <span>
      <Button kind="primary" aria-disabled={state === 'busy'} onClick={() => void get()}>
        {state === 'busy' ? 'Creating a key …' : 'Get a free key'}
      </Button>
      <span className="small field-problem" role="alert">
        {state !== null && state !== 'busy' && state.problem}
      </span>
    </span>
  );
}
