//! Draws recorded from NumPy 2.4: two raw words, `uniform(0, 210, size=2)`, `integers(3)`, `uniform(-1, 2)`,
//! `integers(1000)` twice, `integers(2**40)`, `random()`.

use super::{Pcg64, Seed};

struct Recorded {
    entropy: &'static [u32],
    spawn_key: &'static [u32],
    raw: [u64; 2],
    uniforms: [f64; 4],
    integers: [u64; 4],
}

const RECORDED: [Recorded; 13] = [
    Recorded {
        entropy: &[0],
        spawn_key: &[],
        raw: [0xa30febcfd9c2825f, 0x4510bdf882d9d721],
        uniforms: [8.604440026600885, 3.47080346099111, 1.738266731833165, 0.5436249914654229],
        integers: [0, 813, 503, 802089951224],
    },
    Recorded {
        entropy: &[1],
        spawn_key: &[],
        raw: [0x8306bdf37922e4ff, 0xf35196bbc152a866],
        uniforms: [30.273518671123085, 199.21638389882122, 0.26997934691772696, 0.5495936876730595],
        integers: [0, 311, 273, 449919208513],
    },
    Recorded {
        entropy: &[42],
        spawn_key: &[],
        raw: [0xc621fbcd16d92688, 0x705a5661a791ffc1],
        uniforms: [180.3055631813903, 146.44728610246642, 1.926867054910268, 0.12811363267554587],
        integers: [0, 94, 735, 864286843831],
    },
    Recorded {
        entropy: &[2147483648],
        spawn_key: &[],
        raw: [0xe722628e2338f3e1, 0xe1cdcee3e2d9434],
        uniforms: [203.01297967469765, 19.32938020368801, 1.4816736396961114, 0.10809456629163583],
        integers: [2, 414, 732, 179414804321],
    },
    Recorded {
        entropy: &[0, 1],
        spawn_key: &[],
        raw: [0xe3c5ebe285ac1625, 0x8ea09968fe31dbcc],
        uniforms: [168.19069824731415, 200.8679016698211, -0.29079791410125744, 0.7257230733611507],
        integers: [2, 58, 250, 338913856],
    },
    Recorded {
        entropy: &[0, 2147483648],
        spawn_key: &[],
        raw: [0xcfb443e389167cfd, 0x98b11eb7647f71b8],
        uniforms: [182.33440617201921, 89.27641823993234, -0.31518756234968215, 0.4621837560130321],
        integers: [0, 249, 554, 963085728578],
    },
    Recorded {
        entropy: &[0, 0, 1],
        spawn_key: &[],
        raw: [0x730150b2e3c8c450, 0x641b4e08066ad287],
        uniforms: [121.16344491744125, 60.794784640323975, -0.4491877892440064, 0.6511583491913933],
        integers: [2, 162, 169, 118187156313],
    },
    Recorded {
        entropy: &[0, 0, 0, 0, 1],
        spawn_key: &[],
        raw: [0xad5cc5f1a97c42b5, 0x3e34612a5a50a3c0],
        uniforms: [128.4703972275805, 88.85096426243831, 1.311731699004779, 0.43470324527857884],
        integers: [1, 823, 640, 745612738968],
    },
    Recorded {
        entropy: &[7, 0, 0, 0, 0, 1],
        spawn_key: &[],
        raw: [0xdf76eee1a033606d, 0x530134597aad4ca8],
        uniforms: [22.924206722013867, 12.438779907184832, 0.29189702694881614, 0.7535161188301062],
        integers: [0, 664, 462, 503508367558],
    },
    Recorded {
        entropy: &[0],
        spawn_key: &[0],
        raw: [0xf1645affcd5f76ee, 0x50fb78bc01675596],
        uniforms: [151.69194361646333, 26.37664794086559, 0.9441142927618484, 0.26869672058841676],
        integers: [2, 422, 948, 900408803711],
    },
    Recorded {
        entropy: &[42],
        spawn_key: &[3],
        raw: [0xc3911abae641ff28, 0xf8a97ba0ebfe86b1],
        uniforms: [149.72378508057443, 0.6312976359530076, 0.7877836833694594, 0.10679458577346446],
        integers: [1, 213, 881, 1026399495887],
    },
    Recorded {
        entropy: &[0, 0, 1],
        spawn_key: &[1, 2],
        raw: [0x8fe0e6d19cf7a413, 0xde7b7cf5b91433ff],
        uniforms: [97.15693887279274, 18.977330371589446, -0.7279269998173805, 0.22597528668500932],
        integers: [1, 237, 242, 607203682546],
    },
    Recorded {
        entropy: &[0, 0, 0, 0, 1],
        spawn_key: &[5],
        raw: [0x31777122e50ae03d, 0x1c8f2a8ef5d062c2],
        uniforms: [115.47049356852666, 79.79287098447041, 0.6189745547567005, 0.9482541621317079],
        integers: [0, 209, 157, 430234721724],
    },
];

#[test]
fn draws_equal_numpy_for_seeds_of_any_size() {
    for row in &RECORDED {
        let rng = &mut Pcg64::from_entropy(row.entropy, row.spawn_key);
        assert_eq!([rng.next_u64(), rng.next_u64()], row.raw, "{:?}", row.entropy);
        let colour = [rng.uniform(0.0, 210.0), rng.uniform(0.0, 210.0)];
        let third = rng.integers(3);
        let between = rng.uniform(-1.0, 2.0);
        let integers = [third, rng.integers(1000), rng.integers(1000), rng.integers(1 << 40)];
        assert_eq!([colour[0], colour[1], between, rng.next_f64()], row.uniforms, "{:?}", row.entropy);
        assert_eq!(integers, row.integers, "{:?}", row.entropy);
    }
}

#[test]
fn a_seed_is_its_integer() {
    let power = |exponent: usize| {
        let mut words = vec![0; exponent / 32 + 1];
        words[exponent / 32] = 1 << (exponent % 32);
        Seed::from_words(words)
    };
    assert_eq!(Seed::from_words([]), Seed::from(0));
    assert_eq!(Seed::from_words([5, 0, 0]), Seed::from(5));
    assert_eq!(Seed::from(u64::MAX).words(), [u32::MAX; 2]);
    assert_eq!(Seed::from(0).to_string(), "0");
    assert_eq!(Seed::from(1_000_000_000).to_string(), "1000000000");
    assert_eq!(power(64).to_string(), "18446744073709551616");
    assert_eq!(power(128).to_string(), "340282366920938463463374607431768211456");
}

#[test]
fn a_saved_generator_continues_with_its_spare_half() {
    let mut rng = Pcg64::from(&Seed::from(7));
    rng.next_u32();
    let bytes = postcard::to_allocvec(&rng).unwrap();
    let mut restored: Pcg64 = postcard::from_bytes(&bytes).unwrap();
    assert_eq!([restored.next_u32(), restored.next_u32()], [rng.next_u32(), rng.next_u32()]);
    let seed: Seed = postcard::from_bytes(&postcard::to_allocvec(&vec![9_u32, 0]).unwrap()).unwrap();
    assert_eq!(seed, Seed::from(9));
}
