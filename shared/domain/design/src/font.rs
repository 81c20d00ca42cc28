//! The fonts that print. Each ships with the program, may be embedded, and is licensed as `fonts/README.md` says.

use serde::Deserialize;

/// Declares [`Font`]: variant, name in documents, file.
macro_rules! fonts {
    ($($variant:ident $name:literal $file:literal)+) => {
        /// A font that prints. The list is the whole choice: each ships with the program.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
        pub enum Font {
            $(#[doc = $name] #[serde(rename = $name)] $variant,)+
        }

        impl Font {
            /// Every font.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// Its name in documents.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// Its TrueType file.
            pub const fn bytes(self) -> &'static [u8] {
                match self { $(Self::$variant => include_bytes!(concat!("../fonts/", $file))),+ }
            }
        }
    };
}

fonts! {
    Inter "Inter" "Inter_400Regular.ttf"
    InterItalic "Inter Italic" "Inter_400Regular_Italic.ttf"
    InterBold "Inter Bold" "Inter_700Bold.ttf"
    Montserrat "Montserrat" "Montserrat_400Regular.ttf"
    MontserratBold "Montserrat Bold" "Montserrat_700Bold.ttf"
    Oswald "Oswald" "Oswald_400Regular.ttf"
    OswaldBold "Oswald Bold" "Oswald_700Bold.ttf"
    Lora "Lora" "Lora_400Regular.ttf"
    LoraItalic "Lora Italic" "Lora_400Regular_Italic.ttf"
    LoraBold "Lora Bold" "Lora_700Bold.ttf"
    Caveat "Caveat" "Caveat_400Regular.ttf"
    CaveatBold "Caveat Bold" "Caveat_700Bold.ttf"
    DejaVuSans "DejaVu Sans" "DejaVuSans.ttf"
    DejaVuSansBold "DejaVu Sans Bold" "DejaVuSans-Bold.ttf"
    DejaVuSerif "DejaVu Serif" "DejaVuSerif.ttf"
    DejaVuSerifBold "DejaVu Serif Bold" "DejaVuSerif-Bold.ttf"
    NotoSansHebrew "Noto Sans Hebrew" "NotoSansHebrew_400Regular.ttf"
    NotoSansHebrewBold "Noto Sans Hebrew Bold" "NotoSansHebrew_700Bold.ttf"
    NotoSansArabic "Noto Sans Arabic" "NotoSansArabic_400Regular.ttf"
    NotoSansArabicBold "Noto Sans Arabic Bold" "NotoSansArabic_700Bold.ttf"
}

impl Font {
    /// Where a character is looked for that this font has not: in the order given, of the same weight.
    pub fn fallbacks(self) -> [Self; 3] {
        if self.is_bold() {
            [
                Self::NotoSansHebrewBold,
                Self::NotoSansArabicBold,
                Self::DejaVuSansBold,
            ]
        } else {
            [Self::NotoSansHebrew, Self::NotoSansArabic, Self::DejaVuSans]
        }
    }

    /// Whether its strokes are thick.
    fn is_bold(self) -> bool {
        self.name().ends_with(" Bold")
    }
}
