// The fields of one channel: where messages go, and when.
import type { Watchlist } from '@strata/client';
import { useState } from 'react';
import { Button } from '../../ui/controls/button.tsx';

export type Channel = Watchlist['channels'][number];

interface ChannelFieldsProps {
  readonly channel: Channel | undefined;
  readonly onRemove: () => void;
}

export function ChannelFields({ channel, onRemove }: ChannelFieldsProps) {
  const [kind, setKind] = useState<Channel['kind']>(channel?.kind ?? 'webhook');
  const isEmail = kind === 'email';
  return (
    <fieldset name="channel" className="watch-channel-fields">
      <legend>Channel</legend>
      <label>
        Form of the messages
        <select name="kind" value={kind} onChange={({ target }) => setKind(target.value as Channel['kind'])}>
          <option value="webhook">Signed JSON (Standard Webhooks)</option>
          <option value="slack">Slack</option>
          <option value="teams">Teams</option>
          <option value="email">E-mail</option>
        </select>
      </label>
      <label>
        {isEmail ? 'Address' : 'Webhook'}
        <input
          key={String(isEmail)}
          name="target"
          type={isEmail ? 'email' : 'url'}
          defaultValue={isEmail ? channel?.to : channel?.url}
          placeholder={isEmail ? 'you@example.com' : 'https://…'}
          required
          autoComplete="off"
          spellCheck={false}
        />
      </label>
      {isEmail && <p className="small soft">Its owner receives a link first, and notifications after confirming.</p>}
      <label>
        Send
        <select name="digest" defaultValue={channel?.digest}>
          <option value="none">At once</option>
          <option value="hourly">Together, every hour</option>
          <option value="daily">Together, every day at 8</option>
        </select>
      </label>
      <div className="watch-hours">
        <label>
          Quiet from
          <input name="from" type="time" defaultValue={channel?.quiet_hours?.from} />
        </label>
        <label>
          to
          <input name="to" type="time" defaultValue={channel?.quiet_hours?.to} />
        </label>
        <label>
          Time zone
          <input name="time_zone" defaultValue={channel?.time_zone ?? ownTimeZone()} required spellCheck={false} />
        </label>
      </div>
      <Button kind="small" onClick={onRemove}>
        Remove
      </Button>
    </fieldset>
  );
}

const ownTimeZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The channels of a form, as the body of a request. */
export function channelsIn(form: HTMLFormElement) {
  return [...form.querySelectorAll<HTMLFieldSetElement>('fieldset[name=channel]')].map((fields) => {
    const text = (name: string) => fields.querySelector<HTMLInputElement>(`[name=${name}]`)?.value.trim() ?? '';
    const [kind, from, to] = [text('kind'), text('from'), text('to')];
    return {
      ...{ kind, [kind === 'email' ? 'to' : 'url']: text('target'), digest: text('digest') },
      time_zone: text('time_zone'),
      ...((from !== '' || to !== '') && { quiet_hours: { from, to } }),
    };
  });
}
