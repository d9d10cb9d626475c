// The public keys that verify answers and checkpoints.
import type { StackPaths } from '@strata/client';
import { Badge } from '../../ui/badge.tsx';
import { Card } from '../../ui/card/card.tsx';
import { Command } from '../../ui/command.tsx';
import { formatTime } from '../../ui/formats.ts';
import { DataTable } from '../../ui/table/data-table.tsx';
import { Answer } from '../answer/answer.tsx';
import { stack } from '../answer/session.ts';
import { useStack } from '../answer/use-stack.ts';

const KEYS = '/.well-known/stack-keys.json';
type Key = StackPaths[typeof KEYS]['body']['keys'][number];

export function KeysCard() {
  const keys = useStack(KEYS, {});
  return (
    <Card
      title="Signing keys"
      foot={
        <details className="source">
          <summary>API</summary>
          <p className="small soft">The key set (no API key required):</p>
          <Command text={stack.curl(KEYS)} />
        </details>
      }
    >
      <Answer query={keys} lines={3}>
        {(body) => (
          <>
            <DataTable
              caption="Receipt signing keys"
              rows={body.keys}
              keyOf={({ kid }) => kid}
              columns={[
                { name: 'Key', cell: ({ kid }) => <code className="nowrap">{kid}</code> },
                { name: 'Type', cell: ({ crv }) => crv },
                {
                  name: 'State',
                  cell: ({ status }) => <Badge tone={status === 'current' ? 'good' : 'plain'}>{status}</Badge>,
                },
                { name: 'Since', cell: (key) => <span className="small nowrap">{formatTime(since(key))}</span> },
              ]}
            />
            <h3 className="part-head">Verifier keys of the ledger</h3>
            <p className="small soft">
              Store a verifier key to verify the ledger without trusting the key that this service reports.
            </p>
            {body.ledger.verifier_keys.map((key) => (
              <Command key={key} text={key} label="Copy verifier key" />
            ))}
          </>
        )}
      </Answer>
    </Card>
  );
}

function since({ not_before }: Key): string | null {
  return typeof not_before === 'string' ? not_before : null;
}
