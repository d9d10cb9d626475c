// The health and API version of the service.
import { Badge } from '../../ui/badge.tsx';
import { Card, Figure, Figures } from '../../ui/card/card.tsx';
import { formatTime } from '../../ui/formats.ts';
import { Answer } from '../answer/answer.tsx';
import { Source } from '../answer/source.tsx';
import { useStack } from '../answer/use-stack.ts';

const HEALTH = '/health';
/** `/health` does not count against the quota. */
const POLL_MS = 30_000;

export function ServiceCard() {
  const health = useStack(HEALTH, {}, { pollMs: POLL_MS });
  const isDown = health.isError;
  return (
    <Card title="Service" foot={health.data && <Source path={HEALTH} input={{}} answer={health.data} />}>
      <Answer query={health} lines={2}>
        {({ status, version }) => (
          <Figures>
            <Figure name="Health" note={`checked ${formatTime(new Date(health.dataUpdatedAt).toISOString())}`}>
              {isDown ? <Badge tone="bad">no response</Badge> : <Badge tone="good">{status}</Badge>}
            </Figure>
            <Figure name="API version" note={<a href="/reference">API reference</a>}>
              {version}
            </Figure>
          </Figures>
        )}
      </Answer>
    </Card>
  );
}
