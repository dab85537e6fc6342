// Words that stand in every guesser's first list: passwords, names, teams, months, things people
// love. Written down by us, in order; host/rules/password_policy.h says how they are used.
#include <algorithm>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "host/rules/password_policy.h"

namespace interlock {
namespace {

constexpr std::string_view kWords =
    "aaron abcabc abigail access acdc ace aces adam admin administrator africa again agent "
    "agent007 ajax alan alaska albert alex alexander alexandra alexis alice allah always amanda "
    "amazing amazon amber amen america american amsterdam amy andrea andrew android angel angela "
    "angels angry ann anna anthony anybody anyone anything apollo apple apples april argentina "
    "armor army arsenal arthur asdf asdfasdf asdfgh ashley assassin athena athens atlanta atlas "
    "atomic audi august aunt austin austin1 australia austria autumn avengers awesome azerty "
    "azure baby babyboy babygirl bacon bad bailey banana bananas bang bank banking bar barbara "
    "barca barcelona baseball baseball1 basketball bass batman battery bayern baz beach bear "
    "bears beast beatles beautiful beauty beckham beer beijing belgium benfica bengals benjamin "
    "berlin besiktas best bestfriend better betty beverly beyonce bible bienvenido bienvenue big "
    "biggie billion billionaire billy biology bird birds birthday bitcoin black blackjack "
    "blahblah bless blessed blessing blink blood blue blues bmw bobby boca bomb bond bonjour "
    "book books boom boston boxing brandon brasil braves brazil bread brenda brian bridge "
    "britain british britney brittany broncos brooklyn brother brown browns bruce brussels bryan "
    "buccaneers buddha buddies buddy bulldog bullet bulls bunny burger butter butterfly "
    "california camaro canada canadian candy cannabis captain cardinals carl carol carolyn cash "
    "casino castle cat catherine cats celtic celtics champ champion change changeme chargers "
    "charity charizard charles charlie charlotte cheese cheesecake chelsea chemistry cherries "
    "cherry cheryl chevrolet chevy chewbacca chicago chicken china chocolate christ christian "
    "christian1 christina christine christmas christopher church cisco class classroom cloud "
    "clouds coco coder coding coffee college colombia colonel color colors colts company "
    "computer contrasena cookie cookies cool correct corvette corvus cosmos counter "
    "counterstrike court cousin cowboy cowboys crash crazy cricket crimson crypto crystal cubs "
    "cupcake cutie cynthia dad daddy daisy dallas dance dancer dancing daniel danielle darling "
    "database daughter david davidson dead death debian deborah debra december default delhi "
    "demo demon denise denmark dennis denver desktop detective detroit deutschland developer "
    "devil diablo diamond diamonds diana diane dirty doctor dodgers dog doggy dogs dollar "
    "dollars dolphin dolphins donald donna doom door doris dorothy dortmund douglas dragon "
    "dragon1 dragons driver drummer drums drunk dublin ducati dumbledore dummy dylan dynamite "
    "eagle eagles earth earthquake easter edward egypt eight electric electron elephant eleven "
    "elijah elizabeth elvis email emerald emily eminem emma energy england english english1 "
    "enjoy enter eric espana ethan ethereum eugene euro euros evelyn ever everton everybody "
    "everyone everything example excuse explosive extreme facebook faith falcon falcons family "
    "father february federer fenerbahce ferrari finland fire firefly first fish fishing fitness "
    "five florida flower flowers foo foobar fool foolish football football1 force ford forest "
    "forever formula fortnite fortune four france frances frank freedom french freya friday "
    "friend friends friendship frodo frost frozen fun funny gabriel galatasaray galaxy game "
    "gamer games gaming gandalf garden gary gate geheim general gentleman geography george "
    "gerald german germany ghost giant giants ginger global gloria glory god godisgood gold "
    "golden golf golfer good goodbye google gorgeous gorilla grace grace1 grandfather grandma "
    "grandmother grandpa grape gray great greece green greenday gregory grey guest guitar "
    "guitarist gun guns gym hacker hackers hacking hallo halloween halo hamburg hamilton hannah "
    "happy harley harold harry haslo hawaii hawk health healthy heat heather heaven helen hell "
    "hello helpdesk henry hercules hermione hero heroes hindu hiphop history hobbit hockey "
    "hogwarts hola holiday holland hollywood holmes holy home homes honda honey hongkong hope "
    "horse horse1 horses hospital hot hottie hotty house houston hugs hulk hundred hunter "
    "hurricane husband hyper icecold icecream idiot iloveyou iloveyou1 india indian indians "
    "indigo indonesia insane instagram inter interlock internet invest investor iphone ipsum "
    "ireland irish ironmaiden ironman isabella islam island israel istanbul italia italy jack "
    "jackson jacob jacqueline jaguars jakarta james jamesbond janet janice january japan jasmine "
    "jason java javascript jazz jean jedi jeffrey jennifer jeremy jerry jesse jessica jesus "
    "jesuschrist jets jewel joan joe john johnny joke joker jonathan jordan jordan1 jose joseph "
    "joshua joyce juan judge judith judy julia julie july june jupiter justice justin juventus "
    "karate karen katherine kathleen kathryn kawasaki kayla keith kelly kenneth kevin keyboard "
    "keys kiev kill killer killswitch kimberly king kingdom kings kiss kisses kitten kitty "
    "knicks knife knight knights kobe korea krishna kyle lady lakers lamborghini laptop large "
    "larry last lasvegas laugh laughing laura lauren lava lawrence lawyer lebron legend lemon "
    "letme letmein liberty library lightning lily linda linkinpark linux lion lions lisa lisboa "
    "little liverpool locked logan login logon loki london lord lorem loremipsum lori losenord "
    "loser louis love lovely loveme lover loveyou lozinka lucifer luck lucky luigi mad madison "
    "madonna madrid maggie magic magical mailbox major malaysia mama manager manchester mango "
    "manila maradona march margaret maria marie marijuana marilyn marine mario mark market mars "
    "martha marvel mary master math matrix matthew max maxwell may maybe medicine mega megan "
    "melbourne melissa melon mercedes mercury mercy merlin messi metal metallica mets mexico "
    "miami michael michael1 michelle micro microsoft milan milk million millions minecraft mini "
    "minister molly mom mommy monday money monitor monkey monkey1 monster moon moonlight moron "
    "morpheus moscow motdepasse mother motorcycle mountain mouse muffin mumbai munich muscle "
    "music musica musician muslim mustang mustangs mystery nadal nancy napoli nascar natalie "
    "nathan naughty navy neo nephew network never newyear newyork neymar nicholas nicole niece "
    "nine ninja nintendo nirvana nissan noah nobody nokia norway nothing november nuclear number "
    "numbers nurse ocean october odin office olivia one online open opensesame operator oracle "
    "orange orange1 oranges orchid oreo orlando oslo owner packers pacman pakistan pamela "
    "panther panthers papa paris parola party party1 pass passw0rd passwd password passwort "
    "patricia patrick patriots paul peace peaceful peach peanut pearl pele pepper perhaps peter "
    "phantom philip philippines phoenix phoenix1 physics piano pikachu pilot pink pinkfloyd "
    "pirate pirates pizza planet platinum play player playstation please pleasure pluto pokemon "
    "poker poland police polska pony porsche porto portugal potato potter power powerful prayer "
    "president pretty prince prince1 princess princess1 printer private program programmer "
    "public pumpkin punk puppy purple puzzle python qazwsx quake queen queenie qweqwe qwerty "
    "qwertz rabbit racer rachel racing raiders rain rainbow rainy ralph rams randy rangers rap "
    "raven ravens raymond reader realmadrid rebecca red redskins redsox rich richard riddle "
    "rihanna river robert robin roblox rock rocker rocket rockets rocky roger roma rome ronald "
    "ronaldo root rose roses rossi router roy ruby rugby runner running russell russia ruth ryan "
    "sadie safe safety sailor saints salasana sam samantha sammy sample samsung samuel samurai "
    "sandra sara sarah satan saturday saturn savior scarlet schalke school schumacher science "
    "scorpion scotland scott seahawks sean seattle second secret secretagent secreto secure "
    "security senha seoul september sergeant server service sesame seven sexy sexylady shadow "
    "shakira shanghai shark sharks sharon sherlock shield shirley shiva signin silver singapore "
    "singer sister six skateboard skater skiing skull skywalker slipknot small smile smoke "
    "smoking snake sniper snow snowboard snowman snowy soccer soldier somebody someone something "
    "son song sonic sorry space spaceship spain speed spice spider spiderman spirit spring spurs "
    "spy staple star starcraft starlight stars starwars steelers stephanie stephen steven stock "
    "stockholm stocks stoned storm stormy story strawberry strength strike strong student stupid "
    "sugar summer sunday sunny sunrise sunset sunshine sunshine1 super superman superuser "
    "support surfer surfing susan suzuki sweden sweet sweetie sweets sweety swimming swiss sword "
    "sydney system tea teacher techno temp temporary ten tennis tequila teresa terry test tester "
    "testing tetris texans texas thailand thanks thankyou theresa third thomas thor thousand "
    "three thunder thursday tiger tigers timothy titan titans together tokyo tomato toor tornado "
    "tower toyota trade trader trader1 trading treasure tree trees trinity truck trumpet trust "
    "trustno truth tuesday tulip tupac turbo turkey turkey1 turtle twelve twitter two tyler "
    "tyson ubuntu ukraine ultra uncle unicorn united universe university unlock usa user users "
    "vader vampire vanilla vegas venus victoria victory vienna vietnam vikings vincent violet "
    "violin virginia vodka volcano volkswagen wachtwoord wales wallet walter warcraft warrior "
    "warriors warsaw water watson wayne weapon webmail website wednesday weed weekend welcome "
    "welcome1 whatever whenever wherever whiskey white whoever wife wild william willie "
    "willkommen win wind window windows windy wine winner winter wireless wizard wolf wolves "
    "wonderwoman workout world worst wrestling xbox xyz yamaha yankees yellow yoda yoga youtube "
    "zachary zealand zelda zeppelin zero zeus zidane zombie zurich zxcvbn ";

const std::vector<std::string_view>& words() {
    static const std::vector<std::string_view> kept = [] {
        std::vector<std::string_view> list = split(trim(kWords), ' ');
        std::sort(list.begin(), list.end());
        return list;
    }();
    return kept;
}

}  // namespace

bool is_common_password_word(std::string_view word) {
    return std::binary_search(words().begin(), words().end(), word);
}

std::size_t common_password_words() {
    return words().size();
}

}  // namespace interlock
