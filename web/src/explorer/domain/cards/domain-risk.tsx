// The risk of a domain: security and vendor concentration.
import type { RiskFactor } from '@strata/client';
import { Badge, type Tone } from '../../../ui/badge.tsx';
import { Card, Figure, Figures } from '../../../ui/card/card.tsx';
import { formatName, formatNumber, formatShare } from '../../../ui/formats.ts';
import { DataTable } from '../../../ui/table/data-table.tsx';
import { Answer } from '../../answer/answer.tsx';
import { Source } from '../../answer/source.tsx';
import { useStack } from '../../answer/use-stack.ts';

const TONES: Readonly<Record<string, Tone>> = { low: 'good', medium: 'warn', high: 'bad', critical: 'bad' };

/** The level of a risk score. */
export function RiskLevel({ level }: { readonly level: string | null }) {
  return <Badge tone={TONES[level ?? ''] ?? 'plain'}>{level ?? 'not measured'}</Badge>;
}

export function DomainRisk({ domain }: { readonly domain: string }) {
  const input = { path: { domain } };
  const query = useStack('/stack/v1/intelligence/risk/{domain}', input);
  return (
    <Card
      title="Risk"
      foot={query.data && <Source path="/stack/v1/intelligence/risk/{domain}" input={input} answer={query.data} />}
    >
      <Answer query={query} lines={8}>
        {({ score, level, security, vendor_concentration, method }) => (
          <>
            <Figures>
              <Score name="Overall" score={score} level={level} />
              <Score name="Security" score={security.score} level={security.level} />
              <Score
                name="Vendor concentration"
                score={vendor_concentration.score}
                level={vendor_concentration.level}
              />
            </Figures>
            <Factors name="Security" factors={security.factors} />
            <Factors name="Vendor concentration" factors={vendor_concentration.factors} />
            <p className="small soft">{method} 0 is the lowest risk, 100 the highest.</p>
          </>
        )}
      </Answer>
    </Card>
  );
}

function Score(props: { readonly name: string; readonly score: number | null; readonly level: string | null }) {
  return (
    <Figure name={props.name} note={<RiskLevel level={props.level} />}>
      {formatNumber(props.score)}
    </Figure>
  );
}

function Factors({ name, factors }: { readonly name: string; readonly factors: readonly RiskFactor[] }) {
  return (
    <section className="domain-part">
      <h3>{name}</h3>
      <DataTable
        caption={`Factors of ${name.toLowerCase()}`}
        rows={factors}
        keyOf={({ factor }) => factor}
        columns={[
          { name: 'Factor', cell: ({ factor }) => formatName(factor), value: ({ factor }) => factor },
          { name: 'Risk', cell: ({ risk }) => formatNumber(risk), value: ({ risk }) => risk, isNumber: true },
          { name: 'Weight', cell: ({ weight }) => formatShare(weight), value: ({ weight }) => weight, isNumber: true },
          { name: 'Finding', cell: ({ finding }) => finding },
        ]}
      />
    </section>
  );
}
