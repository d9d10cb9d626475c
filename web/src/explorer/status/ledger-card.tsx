// The public log of receipts: its size, root hash and signers.
import { Card, Figure, Figures } from '../../ui/card/card.tsx';
import { Command } from '../../ui/command.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { formatNumber } from '../../ui/formats.ts';
import { Notice } from '../../ui/states.tsx';
import { Answer } from '../answer/answer.tsx';
import { stack } from '../answer/session.ts';
import { useStack } from '../answer/use-stack.ts';
import { readCheckpoint } from './checkpoint.ts';

const CHECKPOINT = '/ledger/checkpoint';

export function LedgerCard() {
  const checkpoint = useStack(CHECKPOINT, {});
  return (
    <Card
      title="Ledger"
      foot={
        <details className="source">
          <summary>API</summary>
          <p className="small soft">The signed checkpoint (no API key required):</p>
          <Command text={stack.curl(CHECKPOINT)} />
        </details>
      }
    >
      <Answer query={checkpoint} lines={3}>
        {(text) => <Checkpoint text={text} />}
      </Answer>
    </Card>
  );
}

function Checkpoint({ text }: { readonly text: string }) {
  const parts = readCheckpoint(text);
  if (!parts) {
    return (
      <Notice title="Invalid checkpoint" tone="bad">
        <pre>{text.slice(0, 500)}</pre>
      </Notice>
    );
  }
  return (
    <>
      <Figures>
        <Figure name="Receipts in the log">{formatNumber(Number(parts.size))}</Figure>
      </Figures>
      <dl className="status-facts">
        <dt>Origin</dt>
        <dd>
          <code>{parts.origin}</code>
        </dd>
        <dt>Root hash</dt>
        <dd>
          <code>{parts.root}</code> <CopyButton text={parts.root} label="Copy root hash" />
        </dd>
        <dt>Signed by</dt>
        <dd>
          <code>{parts.signers.join(', ')}</code>
        </dd>
      </dl>
      <p className="small soft">
        The log is append-only: with an earlier checkpoint, anyone can prove that no entry has changed since. It is not
        known here whether any third party stores checkpoints of this log.
      </p>
    </>
  );
}
