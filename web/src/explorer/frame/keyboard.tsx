// The dialog with the keyboard shortcuts and the switch to disable them.
import { Fragment } from 'react';
import { Dialog } from '../../ui/controls/dialog.tsx';
import { PAGES } from './navigation.ts';
import { setShortcuts, useAreShortcutsOn } from './shortcuts.ts';

/** The keys to press one after the other, and what they do. */
const SHORTCUTS: readonly (readonly [keys: string, meaning: string])[] = [
  ['/', 'Search'],
  ['?', 'Show shortcuts'],
  ...PAGES.map(([name, , letter]) => [`g${letter}`, name] as const),
];

export function Keyboard({ onClose }: { readonly onClose: () => void }) {
  const areOn = useAreShortcutsOn();
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <label className="check">
        <input type="checkbox" checked={areOn} onChange={({ target }) => setShortcuts(target.checked)} />
        Enable shortcuts
      </label>
      <dl className={areOn ? 'facts' : 'facts soft'}>
        {SHORTCUTS.map(([keys, meaning]) => (
          <Fragment key={keys}>
            <dt>
              {[...keys].map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </Fragment>
        ))}
      </dl>
    </Dialog>
  );
}
