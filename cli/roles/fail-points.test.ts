import { describe, expect, it } from 'vitest';
import { CommandFailure } from '../failure.ts';
import { up } from '../up/up.ts';
import type { RolePorts } from './dispatch-role.ts';
import { type Place, places, readFailPoint, withFailPoint } from './fail-points.ts';

describe('reading', () => {
  it('takes place, time and what to do there', () => {
    expect(readFailPoint('after-commit:37')).toEqual({
      ok: true,
      failPoint: { place: 'after-commit', time: 37, signal: 'SIGKILL' },
    });
    expect(readFailPoint('before-lock:1000000:stop')).toEqual({
      ok: true,
      failPoint: { place: 'before-lock', time: 1_000_000, signal: 'SIGSTOP' },
    });
  });

  it.each([
    ['', 'found place "", allowed are before-create, after-create, '],
    ['at-commit:1', 'found place "at-commit", allowed are before-create, '],
    ['after-commit', 'found time "", allowed are whole numbers from 1 to 1000000'],
    ['after-commit:0', 'found time "0", allowed are whole numbers'],
    ['after-commit:1.5', 'found time "1.5", allowed are whole numbers'],
    ['after-commit:1000001', 'found time "1000001", allowed are whole numbers'],
    ['after-commit:1:die', 'found "die" after the time, allowed is nothing or stop'],
    ['after-commit:1:stop:1', 'found "stop:1" after the time, allowed is nothing or stop'],
  ])('refuses %j', (text, problem) => {
    const reading = readFailPoint(text);
    expect(reading).toMatchObject({ ok: false, problem: expect.stringContaining(problem) as string });
    expect(reading).toMatchObject({ problem: expect.stringMatching(/; as in after-commit:37/) as string });
  });

  it('is what keeps an engine from starting on a wrong value', async () => {
    process.env['WEIR_FAIL_POINT'] = 'nowhere:1';
    try {
      await up({ data: '/nowhere', address: '127.0.0.1:0', maxRuns: 1, lockTtlMs: 1_000 });
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(CommandFailure);
      expect(error).toMatchObject({
        exitCode: 2,
        message: expect.stringMatching(/^WEIR_FAIL_POINT: found place/) as string,
      });
    } finally {
      delete process.env['WEIR_FAIL_POINT'];
    }
  });
});

/** What happens at ports with a fail point, in order: `struck`, and what reaches the ports behind. */
function scene(place: Place, time = 1) {
  const events: string[] = [];
  const behind = (name: string) => async () => {
    events.push(name);
    return { kind: 'done' };
  };
  const ports = {
    store: {
      shards: 16,
      ...{ create: behind('create'), claim: behind('claim'), commit: behind('commit') },
      ...{ post: behind('post'), promote: behind('promote'), load: behind('load') },
    },
    modules: {
      call: (_: unknown, done: (outcome: unknown) => void) => {
        events.push('call');
        done('outcome');
        return 'pending';
      },
    },
    locks: { acquire: behind('lock'), renew: behind('renew'), release: behind('unlock') },
  } as unknown as RolePorts;
  const reading = readFailPoint(`${place}:${time}`);
  if (!reading.ok) throw new Error(reading.problem);
  return { events, ports: withFailPoint(ports, reading.failPoint, () => events.push('struck')) };
}

const commits = {
  commit: { changes: {} },
  release: { changes: {}, release: { ready: true } },
  finish: { changes: { control: { status: { state: 4 } } }, release: { ready: false } },
};

/** Passes the place with this name once. */
async function go({ store, modules, locks }: RolePorts, passage: string): Promise<void> {
  if (passage === 'call') modules.call({} as never, () => {});
  else if (passage === 'lock') await locks.acquire('run', 'owner', 1_000);
  else if (passage in commits) await store.commit(commits[passage as keyof typeof commits] as never);
  else await store[passage as 'create'](undefined as never);
}

describe('ports with a fail point', () => {
  it.each(places)('strike %s', async (place) => {
    const [when, passage = ''] = place.split('-');
    const name = passage in commits ? 'commit' : passage;
    const { events, ports } = scene(place);
    await go(ports, passage);
    expect(events).toEqual(when === 'before' ? ['struck', name] : [name, 'struck']);
  });

  it('strike once, at the time that was named, and at no other place', async () => {
    const { events, ports } = scene('before-release', 2);
    for (const passage of ['release', 'commit', 'finish', 'claim', 'release', 'release']) await go(ports, passage);
    expect(events).toEqual(['commit', 'commit', 'commit', 'claim', 'struck', 'commit', 'commit']);
  });

  it('hand everything on as it is', async () => {
    const { events, ports } = scene('after-call', 2);
    let heard: unknown;
    expect(ports.modules.call({} as never, (outcome) => (heard = outcome))).toBe('pending');
    expect(heard).toBe('outcome');
    expect(ports.store.shards).toBe(16);
    expect(await ports.store.load('1/b/f/k' as never)).toEqual({ kind: 'done' });
    expect(await ports.store.create(undefined as never)).toEqual({ kind: 'done' });
    await ports.locks.renew([], '', 1);
    await ports.locks.release([], '');
    expect(events).toEqual(['call', 'load', 'create', 'renew', 'unlock']);
  });
});
