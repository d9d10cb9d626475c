// Whether the service answers, and which version of the interface it speaks.
import { Badge } from '../../ui/badge.tsx';
import { Card, Figure, Figures } from '../../ui/card/card.tsx';
import { formatTime } from '../../ui/formats.ts';
import { Answer } from '../answer/answer.tsx';
import { Source } from '../answer/source.tsx';
import { useStack } from '../answer/use-stack.ts';

const HEALTH = '/health';
/** It costs no request of the key's day. */
const LOOK_MS = 30_000;

export function ServiceCard() {
  const health = useStack(HEALTH, {}, { everyMs: LOOK_MS });
  const isDown = health.isError;
  return (
    <Card title="Service" foot={health.data && <Source path={HEALTH} input={{}} answer={health.data} />}>
      <Answer query={health} lines={2}>
        {({ status, version }) => (
          <Figures>
            <Figure name="Health" note={`looked at ${formatTime(new Date(health.dataUpdatedAt).toISOString())}`}>
              {isDown ? <Badge tone="bad">no answer now</Badge> : <Badge tone="good">{status}</Badge>}
            </Figure>
            <Figure name="Version of the interface" note={<a href="/reference">API reference</a>}>
              {version}
            </Figure>
          </Figures>
        )}
      </Answer>
    </Card>
  );
}
