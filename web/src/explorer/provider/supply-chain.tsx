// The supply chain of a provider: domains that depend on it, and providers used together with it.
import type { StackPaths } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Card, Figure, Figures } from '../../ui/card/card.tsx';
import { formatName, formatNumber, formatShare } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { numberColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { Answer } from '../answer/answer.tsx';
import { Source } from '../answer/source.tsx';
import { useStack } from '../answer/use-stack.ts';
import { providerColumn } from '../market/columns.tsx';
import { CountLink, usersIn } from '../search/search-links.tsx';
import { withChanges } from '../search/search-params.ts';

const PATH = '/stack/v1/intelligence/supply-chain/{provider}';
type Body = StackPaths[typeof PATH]['body'];
type Neighbour = Body['upstream'][number];

const TONES: Readonly<Record<Body['risk_level'], Tone>> = { low: 'good', medium: 'warn', high: 'bad', critical: 'bad' };

export function SupplyChain({ provider }: { readonly provider: string }) {
  const input = { path: { provider } };
  const query = useStack(PATH, input);
  return (
    <Answer query={query} lines={12}>
      {(body, answer) => (
        <>
          <Card title="Impact of an outage" foot={<Source path={PATH} input={input} answer={answer} />}>
            <p className="market-verdict">
              <Badge tone={TONES[body.risk_level]}>{body.risk_level} concentration risk</Badge>
            </p>
            <Figures>
              <Figure name="Dependent domains">
                <Link to="/provider/$provider" params={{ provider: body.provider_id }} search={{ tab: 'domains' }}>
                  {formatNumber(body.dependent_domains)}
                </Link>
              </Figure>
              <Figure name="Sole-source domains" note="no other provider in at least one category">
                {formatNumber(body.sole_source_domains)}
              </Figure>
              {Object.entries(body.share_by_category).map(([category, share]) => (
                <Figure key={category} name={`Share of ${formatName(category)}`} note={hhiOf(body, category)}>
                  <Link to="/search" search={withChanges({}, usersIn(category, body.provider_id, false))}>
                    {formatShare(share)}
                  </Link>
                </Figure>
              ))}
            </Figures>
            <h3 className="provider-reasons-head">Reasons</h3>
            <ul className="provider-reasons">
              {body.reasons.map((reason) => (
                <li key={reason}>{reason}</li>
              ))}
            </ul>
          </Card>
          <Neighbours
            own={body.provider_id}
            title="Providers its domains also depend on"
            of={`of the domains of ${body.provider}`}
            rows={body.upstream}
            definition={body.definition}
          />
          <Neighbours
            own={body.provider_id}
            title="Providers whose domains depend on it"
            of="of their own domains"
            rows={body.downstream}
            definition={body.definition}
          />
        </>
      )}
    </Answer>
  );
}

function hhiOf({ hhi_by_category }: Body, category: string): string {
  const hhi = hhi_by_category[category];
  return hhi === null || hhi === undefined ? 'HHI unknown' : `HHI ${formatNumber(Math.round(hhi))}`;
}

interface NeighboursProps {
  /** Id of the provider of the page. */
  readonly own: string;
  readonly title: string;
  /** The reference of the shares. */
  readonly of: string;
  readonly rows: readonly Neighbour[];
  readonly definition: string;
}

function Neighbours({ own, title, of, rows, definition }: NeighboursProps) {
  const columns: readonly Column<Neighbour>[] = [
    providerColumn,
    {
      name: 'Shared domains',
      isNumber: true,
      cell: ({ provider_id, domains }) => <CountLink count={domains} of={{ provider: own, with: provider_id }} />,
      value: ({ domains }) => domains,
    },
    numberColumn('Share', ({ share }) => share, formatShare),
  ];
  return (
    <Card title={title} width="half">
      {rows.length === 0 ? (
        <Empty>No provider shares enough domains with it.</Empty>
      ) : (
        <DataTable caption={title} columns={columns} rows={rows} keyOf={({ provider_id }: Neighbour) => provider_id} />
      )}
      <p className="small soft provider-note">
        Share: {of}. {definition}
      </p>
    </Card>
  );
}
