import { describe, expect, it } from 'vitest';
import { Health } from '../../proto/gen/weir/directory/v1/directory_pb.js';
import { type Candidate, choose, type Standing } from './balancing.ts';

/** A small generator with a seed, so that a failure repeats. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface Endpoint extends Candidate, Standing {
  readonly name: string;
  inFlight: number;
  health: Health;
}

function endpoint(name: string, options: Partial<Endpoint> = {}): Endpoint {
  return { name, health: Health.SERVING, inFlight: 0, concurrency: 10, ...options };
}

function chosen(endpoints: Endpoint[], tried: Endpoint[] = [], random = seeded(1)): string {
  const choice = choose(endpoints, tried, random);
  return choice.kind === 'chosen' ? choice.endpoint.name : choice.kind;
}

const never = (): number => {
  throw new Error('there is nothing to draw');
};

describe('choose', () => {
  it('tells no endpoint from no free place', () => {
    const full = endpoint('full', { inFlight: 10 });
    expect(chosen([])).toBe('none');
    expect(chosen([full])).toBe('busy');
    expect(chosen([full], [full])).toBe('none');
  });

  it('draws nothing when there is one', () => {
    const full = endpoint('full', { inFlight: 10 });
    expect(chosen([full, endpoint('free')], [], never)).toBe('free');
  });

  it('takes the less loaded of two', () => {
    const endpoints = [endpoint('a', { inFlight: 3 }), endpoint('b', { inFlight: 2 })];
    for (let seed = 0; seed < 100; seed++) expect(chosen(endpoints, [], seeded(seed))).toBe('b');
  });

  it('spreads calls that are answered at once evenly', () => {
    const endpoints = Array.from({ length: 5 }, (_, index) => endpoint(`${index}`));
    const random = seeded(7);
    const counts = new Map<string, number>();
    for (let call = 0; call < 10_000; call++) {
      const name = chosen(endpoints, [], random);
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    for (const { name } of endpoints) expect(Math.abs((counts.get(name) ?? 0) - 2_000)).toBeLessThan(200);
  });

  it('keeps the load of slow endpoints within a few calls of each other', () => {
    for (let seed = 0; seed < 20; seed++) {
      const endpoints = Array.from({ length: 20 }, (_, index) => endpoint(`${index}`, { concurrency: 1_000 }));
      const random = seeded(seed);
      for (let call = 0; call < 2_000; call++) {
        const choice = choose(endpoints, [], random);
        if (choice.kind === 'chosen') choice.endpoint.inFlight++;
      }
      const loads = endpoints.map(({ inFlight }) => inFlight);
      expect(Math.max(...loads) - Math.min(...loads)).toBeLessThan(12);
    }
  });

  it('never takes a tried one and never goes beyond concurrency', () => {
    for (let seed = 0; seed < 500; seed++) {
      const random = seeded(seed);
      const endpoints = Array.from({ length: 1 + Math.floor(random() * 6) }, (_, index) =>
        endpoint(`${index}`, {
          inFlight: Math.floor(random() * 4),
          concurrency: 1 + Math.floor(random() * 3),
          health:
            [Health.UNKNOWN, Health.SERVING, Health.NOT_SERVING, Health.UNREACHABLE][Math.floor(random() * 4)] ?? 0,
        }),
      );
      const tried = endpoints.filter(() => random() < 0.4);
      const choice = choose(endpoints, tried, random);
      if (choice.kind === 'chosen') {
        expect(tried).not.toContain(choice.endpoint);
        expect(choice.endpoint.inFlight).toBeLessThan(choice.endpoint.concurrency);
      } else {
        expect(choice.kind === 'none').toBe(tried.length === endpoints.length);
      }
    }
  });

  it('prefers what serves, then what was not asked yet', () => {
    const out = endpoint('out', { health: Health.NOT_SERVING });
    const gone = endpoint('gone', { health: Health.UNREACHABLE });
    const fresh = endpoint('fresh', { health: Health.UNKNOWN, inFlight: 9 });
    const serving = endpoint('serving', { inFlight: 9 });
    for (let seed = 0; seed < 50; seed++) {
      expect(chosen([out, gone, fresh, serving], [], seeded(seed))).toBe('serving');
      expect(chosen([out, gone, fresh, serving], [serving], seeded(seed))).toBe('fresh');
      expect(['out', 'gone']).toContain(chosen([out, gone, fresh, serving], [serving, fresh], seeded(seed)));
    }
  });

  it('waits for a serving endpoint rather than to call one that does not serve', () => {
    expect(chosen([endpoint('out', { health: Health.NOT_SERVING }), endpoint('full', { inFlight: 10 })])).toBe('busy');
  });

  it('draws idle endpoints as often as their weights say', () => {
    const endpoints = [1, 3, 6].map((weight) => endpoint(`${weight}`, { weight }));
    const random = seeded(11);
    const counts = new Map<string, number>();
    for (let call = 0; call < 10_000; call++) {
      const name = chosen(endpoints, [], random);
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    for (const { name, weight = 1 } of endpoints) {
      expect(Math.abs((counts.get(name) ?? 0) - weight * 1_000)).toBeLessThan(150);
    }
  });

  it('keeps the load of slow endpoints in proportion to their weights', () => {
    const endpoints = [1, 2, 5, 10].map((weight) => endpoint(`${weight}`, { weight, concurrency: 10_000 }));
    const random = seeded(3);
    for (let call = 0; call < 1_800; call++) {
      const choice = choose(endpoints, [], random);
      if (choice.kind === 'chosen') choice.endpoint.inFlight++;
    }
    for (const { inFlight, weight = 1 } of endpoints) expect(Math.abs(inFlight / weight - 100)).toBeLessThan(8);
  });

  it('never draws one endpoint twice, whatever the weights', () => {
    for (const high of [0, 0.5, 1 - 2 ** -53]) {
      for (const weights of [
        [1, 100],
        [100, 1],
        [3, 1, 2],
      ]) {
        const endpoints = weights.map((weight) => endpoint(`${weight}`, { weight }));
        const draws = [high, 1 - 2 ** -53];
        const first = chosen(endpoints, [], () => draws.shift() ?? 0);
        for (const busier of endpoints) if (busier.name === first) busier.inFlight = 9;
        const again = [high, 1 - 2 ** -53];
        expect(chosen(endpoints, [], () => again.shift() ?? 0)).not.toBe(first);
      }
    }
  });

  it('goes to another unit only when no near endpoint in the same health has a free place', () => {
    const near = endpoint('near', { inFlight: 9 });
    const far = endpoint('far', { isFar: true });
    for (let seed = 0; seed < 50; seed++) expect(chosen([far, near], [], seeded(seed))).toBe('near');
    near.inFlight = 10;
    expect(chosen([far, near])).toBe('far');
    near.inFlight = 0;
    near.health = Health.NOT_SERVING;
    expect(chosen([far, near])).toBe('far');
    expect(chosen([far, near], [far])).toBe('near');
  });

  it('takes one whose last calls failed after all that serve, and before none', () => {
    const failing = endpoint('failing', { isFailing: true });
    const fresh = endpoint('fresh', { health: Health.UNKNOWN });
    expect(chosen([failing, fresh])).toBe('fresh');
    expect(chosen([failing, fresh], [fresh])).toBe('failing');
    fresh.inFlight = 10;
    expect(chosen([failing, fresh])).toBe('busy');
  });
});
